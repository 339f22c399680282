"""What assessors did, by name and stage; what stands out, with an innocent reason; and pausing somebody."""

import csv
import io
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assessor.models import TimeSegment
from evaluation.errors import Refused
from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment, Event, Membership, SupportJudgment, Task
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.tasks.changes import pause
from evaluation.terms import SegmentKind
from organizer.people.work_done import Flag, PeopleWork, PersonStage, people_work_for
from tests.worlds.campaign import World, queries_of
from tests.worlds.judging import JudgingWorld, finish, give, load_machine, make_judging_world

WORK = reverse("organizer:people", args=["river"])
FILE = reverse("organizer:people_work_file", args=["river"])
PAUSE = reverse("organizer:pause_assessor", args=["river"])


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    return make_judging_world(tmp_path)


def client_of(world: JudgingWorld, name: str = "olga") -> Client:
    return World(world.campaign, world.people).client(name)


def page_of(world: JudgingWorld) -> PeopleWork:
    return people_work_for(world.people["olga"], type(world.campaign).objects.get())


def row_of(world: JudgingWorld, name: str, stage: Stage) -> PersonStage:
    [found] = [row for row in page_of(world).rows if row.who.name == name and row.stage is stage]
    return found


def worked(task: Task, minutes: int, kind: SegmentKind = SegmentKind.EDITING, number: int = 1) -> None:
    started = timezone.now() - timedelta(hours=9 - number)
    ended = started + timedelta(minutes=minutes)
    TimeSegment.objects.create(
        task=task,
        submission=1,
        window="w",
        number=number,
        kind=kind,
        started_at=started,
        ended_at=ended,
        words=100,
    )


def test_done_minutes_and_labels_stand_beside_those_of_others(world: JudgingWorld) -> None:
    ann, ben = world.hand(ASSIGN, "ann"), world.hand(ASSIGN, "ben", again=True)
    worked(ann, 40)
    finish(ann, label=2)
    finish(ben, label=0)
    row = row_of(world, "ann", ASSIGN)
    assert (row.tasks.done, row.tasks.unfinished) == (1, 0)
    assert row.minutes is not None
    assert (row.minutes.median, row.low, row.high) == (40.0, 40.0, 40.0)
    assert row.words_per_minute is not None
    assert row.words_per_minute > 0
    assert row.mix.shares == (1.0, 0.0, 0.0)
    assert row.others.shares == (0.0, 0.0, 1.0)
    page = client_of(world).get(WORK).content.decode()
    for text in ("40.0", "100.0", "ann", "ben", "As CSV"):
        assert text in page


def test_only_submitted_labels_are_counted(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    give(task)
    assert row_of(world, "ann", ASSIGN).mix.total == 0
    finish(task)
    assert row_of(world, "ann", ASSIGN).mix.total > 0


def test_what_cannot_be_judged_and_what_the_sweep_changed_are_shares(world: JudgingWorld) -> None:
    finish(world.hand(ASSIGN, "ann"))
    labels = Assignment.objects.filter(judge__user=world.people["ann"]).order_by("pk")
    labels.filter(pk=labels[0].pk).update(label=AssignmentLabel.CANT_JUDGE)
    labels.filter(pk=labels[1].pk).update(first_label=AssignmentLabel.NOT_SUPPORT)
    type(world.campaign).objects.update(revision=99)
    row = row_of(world, "ann", ASSIGN)
    assert row.mix.cant_judge == pytest.approx(1 / labels.count())
    assert row.swept == pytest.approx(1 / labels.count())


def test_acceptance_times_are_given_only_where_labels_were_shown(world: JudgingWorld) -> None:
    load_machine(
        world, *((run, n, docid, "full_support") for run, n, docid in (("alpha", 0, "d1"), ("alpha", 1, "d2")))
    )
    load_machine(world, ("gamma", 1, "d2", "full_support"))
    shown, scratch = world.hand(SUPPORT_POST_EDIT, "ann"), world.hand(SUPPORT_SCRATCH, "ben")
    finish(shown, accepted=True, shown_label=2, shown_ms=300)
    finish(scratch)
    assert SupportJudgment.objects.filter(accepted=True).count() == 3
    row = row_of(world, "ann", SUPPORT_POST_EDIT)
    assert row.accepts is not None
    assert (row.accepts.median, row.accepts.number) == (300, 3)
    assert row_of(world, "ben", SUPPORT_SCRATCH).accepts is None


def flags_after(world: JudgingWorld, times: int) -> tuple[Flag, ...]:
    """Copy Ann's accepted labels until they are enough to speak of."""
    finish(world.hand(SUPPORT_POST_EDIT, "ann"), accepted=True, shown_label=2, shown_ms=200)
    [*given] = SupportJudgment.objects.filter(accepted=True)
    for number in range(times):
        for judgment in given:
            judgment.pk, judgment.submission = None, 2 + number
            judgment.save(force_insert=True)
    type(world.campaign).objects.update(revision=99)
    return page_of(world).flags


@pytest.mark.parametrize(("times", "expected"), [(0, 0), (2, 1)])
def test_quick_accepts_show_evidence_and_an_innocent_reason(
    world: JudgingWorld, times: int, expected: int
) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"), ("alpha", 1, "d2", "full_support"))
    load_machine(world, ("gamma", 1, "d2", "full_support"))
    flags = flags_after(world, times)
    assert len(flags) == expected
    for flag in flags:
        assert flag.evidence == "Shown labels were accepted after 200 ms at the median, 9 accepts."
        assert "may have been plain" in flag.innocent


def test_the_file_has_what_is_on_the_page_and_no_formula(world: JudgingWorld) -> None:
    world.people["ann"].first_name = "=1+1"
    world.people["ann"].save()
    task = world.hand(ASSIGN, "ann")
    worked(task, 40)
    finish(task)
    response = client_of(world).get(FILE)
    assert response["Content-Disposition"] == 'attachment; filename="river-people.csv"'
    [row] = csv.DictReader(io.StringIO(response.content.decode()))
    assert row["assessor"] == "'=1+1"
    assert (row["stage"], row["done"], row["median_min"], row["full"]) == ("assign", "1", "40.0", "1.0")


def test_a_paused_assessor_gets_nothing_new_and_keeps_their_tasks(world: JudgingWorld) -> None:
    kept = world.hand(ASSIGN, "ann")
    assert client_of(world).post(PAUSE, {"username": "ann", "act": "pause"}).status_code == 302
    with pytest.raises(Refused, match="ann is paused and gets nothing new"):
        world.hand(SUPPORT_SCRATCH, "ann")
    assert world.hand(SUPPORT_SCRATCH, "").assessor == world.people["ben"]
    finish(kept)
    assert ">paused</span>" in client_of(world).get(WORK).content.decode()
    client_of(world).post(PAUSE, {"username": "ann", "act": "resume"})
    assert Membership.objects.get(user=world.people["ann"]).paused_at is None
    kinds = Event.objects.filter(kind__startswith="member.p").values_list("kind", "payload__user")
    assert list(kinds) == [("member.paused", world.people["ann"].pk)]


def test_one_line_has_tasks_by_state_due_time_and_stages(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    worked(task, 40)
    finish(task)
    late = world.hand(SUPPORT_SCRATCH, "ann")
    Task.objects.filter(pk=late.pk).update(due="2020-02-01")
    [line] = [line for line in client_of(world).get(WORK).content.decode().split("<tr>") if "task-bar" in line]
    for shown in (
        "1 submitted, 1 not started",
        "1 Feb 2020",
        "days late",
        "1 of 1",
        "0 of 1",
        "40.0 min",
        "assessor",
    ):
        assert shown in " ".join(line.split()), shown


def test_with_everybody_paused_there_is_nobody_to_hand_work_to(world: JudgingWorld) -> None:
    for name in ("ann", "ben"):
        pause(campaign=world.campaign, username=name, paused=True, actor=world.people["olga"])
    with pytest.raises(Refused):
        world.hand(ASSIGN, "")


def test_pausing_twice_is_one_event_and_only_assessors_are_paused(world: JudgingWorld) -> None:
    for _ in range(2):
        pause(campaign=world.campaign, username="ann", paused=True, actor=world.people["olga"])
    assert Event.objects.filter(kind="member.paused").count() == 1
    assert Membership.objects.get(user=world.people["ann"]).paused_at is not None
    assert client_of(world).post(PAUSE, {"username": "rita", "act": "pause"}).status_code == 422


@pytest.mark.parametrize("address", [WORK, FILE])
def test_an_organizer_who_judges_gets_none_of_it(world: JudgingWorld, address: str) -> None:
    task = world.hand(ASSIGN, "ann")
    assert client_of(world).get(address).status_code == 200
    Task.objects.filter(pk=task.pk).update(assessor=world.people["olga"])
    assert client_of(world).get(address).status_code == 404


def test_more_work_costs_no_more_queries(world: JudgingWorld) -> None:
    client = client_of(world)
    finish(world.hand(ASSIGN, "ann"))
    client.get(WORK)
    before = queries_of(client, WORK)
    task = world.hand(ASSIGN, "ben", again=True)
    worked(task, 10)
    finish(task)
    client.get(WORK)
    assert queries_of(client, WORK) == before
