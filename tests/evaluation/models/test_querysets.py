"""Conditions that many reads share: each method and its twin, through a relation too, find the same rows."""

from pathlib import Path

import pytest
from django.utils import timezone

from evaluation.models import (
    Answer,
    Assignment,
    Judge,
    ListedNugget,
    Membership,
    NuggetList,
    NuggetSet,
    Remark,
    Task,
)
from evaluation.stages import ASSIGN, SUPPORT_SCRATCH
from evaluation.terms import JudgeKind, Origin, RemarkKind
from tests.worlds.judging import JudgingWorld, load_nuggets, make_judging_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    return make_judging_world(tmp_path)


def test_the_newest_submitted_list_of_each_set_counts(world: JudgingWorld) -> None:
    other = load_nuggets(world, "other", Origin.EDITED, topic="t2")
    edited = NuggetSet.objects.get(name="edited")
    first = edited.lists.get()
    second = NuggetList.objects.create(nugget_set=edited, topic=first.topic, version=2)
    NuggetList.objects.create(nugget_set=edited, topic=first.topic, version=3, submitted=False)
    assert set(NuggetList.objects.newest_submitted()) == {second, other.lists.get()}
    assert edited.lists.newest_submitted().get() == second
    items = ListedNugget.objects.filter(NuggetList.objects.newest_submitted_q("nugget_list__"))
    assert {item.nugget_list for item in items} == {other.lists.get()}  # the second version is still empty


def test_current_labels_leave_out_replaced_ones(world: JudgingWorld) -> None:
    judge = Judge.objects.create(name="robot", kind=JudgeKind.LLM)
    wording = ListedNugget.objects.all()[0].nugget_version
    given = [
        Assignment.objects.create(
            judge=judge, answer=answer, nugget_version=wording, label=2, stands=current, given_at=timezone.now()
        )
        for answer, current in zip(Answer.objects.order_by("pk")[:2], (True, False), strict=True)
    ]
    assert list(Assignment.objects.current()) == given[:1]
    assert list(Assignment.objects.exclude(pk__in=Assignment.objects.current())) == given[1:]


def test_a_withdrawn_task_is_open_for_nobody(world: JudgingWorld) -> None:
    withdrawn, kept = world.hand(SUPPORT_SCRATCH, "ann"), world.hand(ASSIGN, "ann")
    for task in (withdrawn, kept):
        Remark.objects.create(task=task, kind=RemarkKind.COMMENT, text="Hm.")
    world.withdraw(withdrawn)
    ann, ben = world.people["ann"], world.people["ben"]
    assert list(Task.objects.not_withdrawn()) == list(Task.objects.open_for(ann)) == [kept]
    assert not Task.objects.open_for(ben).exists()
    assert Remark.objects.get(Task.objects.not_withdrawn_q("task__")).task == kept
    assert Remark.objects.get(task__in=Task.objects.open_for(ann)).task == kept


def test_a_task_closes_for_whoever_assesses_no_more(world: JudgingWorld) -> None:
    world.hand(ASSIGN, "ann")
    Membership.objects.filter(user=world.people["ann"]).delete()
    assert not Task.objects.open_for(world.people["ann"]).exists()
