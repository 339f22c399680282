"""Topics that second opinions and studies look at again: Today and Work call none of them done while one is open."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Campaign, Task
from evaluation.stages import ASSIGN
from evaluation.terms import JudgeKind, Origin, TaskState
from tests.worlds.judging import JudgingWorld, load_nuggets
from tests.worlds.study import EXPERT, hand_study, load_assignments, make_study, make_study_world

TODAY, WORK = (reverse(f"organizer:{page}", args=["river"]) for page in ("today", "work"))
pytestmark = pytest.mark.postgresql
LABELS = 2
"""Place of the card."""


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """Two topics, of which an expert and a machine gave all labels. They differ in t1."""
    world = make_study_world(tmp_path)
    load_nuggets(world, "edited", Origin.EDITED, topic="t2")
    load_assignments(world, EXPERT, JudgeKind.HUMAN, {"delta": (2, 2, 0)}, topic="t2")
    return world


def second_opinion(world: JudgingWorld) -> Task:
    submit(world.hand(ASSIGN, "ann", nuggets="edited"))
    return world.hand(ASSIGN, "ben", nuggets="edited", again=True)


def second_look(world: JudgingWorld) -> Task:
    return hand_study(world, make_study(world), "ben")


both = pytest.mark.parametrize("again", [second_opinion, second_look])


def submit(task: Task) -> None:
    Task.objects.filter(pk=task.pk).update(state=TaskState.SUBMITTED, opened_at=timezone.now())


def olga(world: JudgingWorld) -> Client:
    client = Client()
    client.force_login(world.people["olga"])
    return client


def said(world: JudgingWorld) -> tuple[dict[str, int], str]:
    """Topics by state and the act of the card of labels, whose links each lead to as many topics in Work."""
    Campaign.objects.update(revision=F("revision") + 1)
    client = olga(world)
    card = client.get(TODAY).context["cards"][LABELS]
    shares = [share for share in (card.done, *card.others) if share.count]
    for share in shares:
        assert client.get(share.link).context["page"].paginator.count == share.count
    return {share.state: share.count for share in shares}, card.act.caption


def in_work(world: JudgingWorld) -> dict[str, int]:
    return {str(state): number for state, number in olga(world).get(WORK).context["numbers"].items()}


@both
def test_a_topic_is_done_once_it_was_looked_at_again(
    world: JudgingWorld, again: Callable[[JudgingWorld], Task]
) -> None:
    assert said(world) == ({"done": 2}, "Done")
    task = again(world)
    assert said(world) == ({"done": 1, "in progress": 1}, "Waiting for ben (1)")
    assert in_work(world) == {"topics done": 1, "topics in progress": 1}
    submit(task)
    assert said(world) == ({"done": 2}, "Done")
    assert in_work(world) == {"topics done": 2}


@both
def test_what_stops_it_is_the_act_of_its_step(world: JudgingWorld, again: Callable[[JudgingWorld], Task]) -> None:
    tasks = Task.objects.filter(pk=again(world).pk)
    tasks.update(due=timezone.localdate() - timedelta(days=1))
    assert said(world) == ({"done": 1, "in progress": 1}, "Remind ben")
    tasks.update(state=TaskState.BLOCKED)
    assert said(world) == ({"done": 1, "blocked": 1}, "Unblock t1")
    assert in_work(world) == {"topics blocked": 1, "topics done": 1}


def test_a_second_look_hands_nothing_out(world: JudgingWorld) -> None:
    """It asks for a few drawn pairs of t1, whose labels came from outside."""
    second_look(world)
    found = olga(world).get(WORK, {"state": "not handed out"}).context["page"]
    assert [topic.topic_id for topic in found] == ["t1", "t2"]
