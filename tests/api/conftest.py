"""The small campaign of the pages, and programs that ask for it with tokens."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import cache
from django.utils import timezone

from accounts.tokens import make_token
from evaluation.models import Judge, Judgment, Segment, Task, Topic
from evaluation.stages import GRADE, MANUAL
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.units import Order
from evaluation.terms import StudyKind
from reports.random_checks.drawing import RandomCheckOrder, create_random_check
from tests.api.reading import Program
from tests.worlds.campaign import World, make_world

CHECK = RandomCheckOrder("by chance", StudyKind.ASSIGNMENT, per_run=2, least=1)


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """Two topics, two runs, a nugget set, a machine's labels and a person's, a grade, a random check; and the cast."""
    cache.clear()  # of what throttles counted
    made = make_world(tmp_path)
    create_random_check(campaign=made.campaign, order=CHECK, actor=made.people["olga"])
    topic, segment = Topic.objects.get(topic_id="t1"), Segment.objects.earliest("pk")
    graded = {"unit": segment.public_id, "topic": topic, "segment": segment, "given_at": timezone.now()}
    Judgment.objects.create(stage=GRADE, label=2, judge=Judge.objects.get(name="person"), **graded)
    return made


@pytest.fixture
def olga(world: World) -> Program:
    return program_of(world, "olga")


def program_of(world: World, name: str, scopes: tuple[str, ...] = ("read",)) -> Program:
    ends = timezone.now() + timedelta(days=1)
    return Program(make_token(user=world.people[name], name="test", scopes=scopes, expires_at=ends)[1])


def hand_out_to(world: World, name: str, topic: str = "t1", *, second_opinion: bool = False) -> Task:
    order = Order(MANUAL, (Topic.objects.get(topic_id=topic).public_id,), name, again=second_opinion)
    receipt = hand_out(campaign=world.campaign, order=order, actor=world.people["olga"])
    return Task.objects.get(public_id=receipt.tasks[0])
