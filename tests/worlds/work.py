"""Work to hand out: the desk's world, and as many further topics as a test wants."""

from pathlib import Path

from django.utils import timezone

from evaluation.models import Campaign, Qrel, QrelSource, Segment, Task, Topic
from evaluation.stages import MANUAL, Stage
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.units import Order
from evaluation.terms import TaskState
from tests.worlds.desk import DeskWorld, make_desk_world
from tests.worlds.recorded import built_once

REASON = "The guidelines changed <b>twice</b>."


@built_once
def make_work_world(folder: Path) -> DeskWorld:
    """Ann's two tasks, with names to tell people apart by."""
    world = make_desk_world(folder)
    for username, name in (("ann", "Ann Archer"), ("ben", "Ben Brook")):
        first, last = name.split()
        world.people[username].first_name, world.people[username].last_name = first, last
        world.people[username].save()
    return world


def more_topics(campaign: Campaign, number: int, *, words: int = 600) -> list[Topic]:
    """Add topics with one passage each; the later, the longer."""
    source = QrelSource.objects.get(campaign=campaign, name="NIST")
    made = []
    for n in range(number):
        topic = Topic.objects.create(
            campaign=campaign, topic_id=f"m{n:02}", text=f"more topic {n}", position=100 + n
        )
        segment = Segment.objects.create(
            campaign=campaign,
            docid=f"m{n:02}#1",
            document=f"m{n:02}",
            has_text=True,
            text="water " * words * (n + 1),
        )
        Qrel.objects.create(source=source, topic=topic, segment=segment, grade=2)
        made.append(topic)
    return made


def hand(world: DeskWorld, topics: list[Topic], username: str = "", stage: Stage = MANUAL) -> list[Task]:
    order = Order(stage, tuple(topic.public_id for topic in topics), username)
    receipt = hand_out(campaign=world.campaign, order=order, actor=world.people["olga"])
    tasks = {task.public_id: task for task in Task.objects.select_related("assessor", "topic")}
    return [tasks[public_id] for public_id in receipt.tasks]


def as_submitted(tasks: list[Task]) -> None:
    pks = [task.pk for task in tasks]
    Task.objects.filter(pk__in=pks).update(state=TaskState.SUBMITTED, opened_at=timezone.now())
