"""What an organizer asks first each day: how far the topics are, and which tasks want something of them."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from django.db.models import Count, Q
from django.utils import timezone

from accounts.models import User
from evaluation.models import Campaign, Desk, Remark, Task
from evaluation.queries.topic_states import TopicNumbers, numbers_of
from evaluation.queries.topics import topics_for
from evaluation.queries.work import TOUCHED, UNTOUCHED, late, remarks_for, tasks_for
from evaluation.rules.work import ACTIVE
from evaluation.terms import RemarkKind, Stage, TaskState

SHOWN: Final = 3
"""How many remarks of a kind are shown; all are in the inbox."""


@dataclass(frozen=True, slots=True)
class TaskInNeed:
    """A task that somebody should look at. `since`: of what; `said`: the reason that was given."""

    public_id: str
    topic_id: str
    stage: Stage
    assessor: str
    since: datetime | date | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class TasksInNeed:
    """Tasks that wait for an organizer, by what is the matter."""

    blocked: tuple[TaskInNeed, ...]
    overdue: tuple[TaskInNeed, ...]
    untouched: tuple[TaskInNeed, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """The open remarks of a kind: how many, and the oldest of them."""

    kind: RemarkKind
    number: int
    oldest: tuple[Remark, ...]


def topic_numbers_for(viewer: User, campaign: Campaign) -> TopicNumbers:
    """Count the campaign's topics by state."""
    return numbers_of(topics_for(viewer, campaign).order_by(), tasks_for(viewer, campaign))


def open_tasks_for(viewer: User, campaign: Campaign) -> list[tuple[int, Stage]]:
    """Return what is still to be done: tasks by key, with their stages. Studies are left out."""
    rows = tasks_for(viewer, campaign).filter(state__in=[*ACTIVE, TaskState.BLOCKED], study=None).order_by("pk")
    return [(pk, Stage(stage)) for pk, stage in rows.values_list("pk", "stage")]


def tasks_in_need_for(viewer: User, campaign: Campaign) -> TasksInNeed:
    """Return the tasks that are blocked, late, or were begun and not touched for a day: two queries."""
    now, today = timezone.now(), timezone.localdate()
    rows = tasks_for(viewer, campaign).filter(Q(state=TaskState.BLOCKED) | Q(state__in=TOUCHED) | late())
    found = list(rows.select_related("topic", "assessor"))
    held = dict(Desk.objects.filter(task__in=found).values_list("task", "held_at"))
    touched = {task.pk: held.get(task.pk) or task.opened_at or task.created_at for task in found}
    return TasksInNeed(
        blocked=tuple(_in_need(one, None, one.blocked_reason) for one in found if one.state == TaskState.BLOCKED),
        overdue=tuple(
            _in_need(one, one.due) for one in found if one.state in ACTIVE and one.due and one.due < today
        ),
        untouched=tuple(
            _in_need(one, touched[one.pk])
            for one in sorted(found, key=lambda task: touched[task.pk])
            if one.state in TOUCHED and now - touched[one.pk] > UNTOUCHED
        ),
    )


def _in_need(task: Task, since: datetime | date | None, text: str = "") -> TaskInNeed:
    return TaskInNeed(task.public_id, task.topic.topic_id, Stage(task.stage), task.assessor.name, since, text)


def asked_for(viewer: User, campaign: Campaign) -> list[Asked]:
    """Return what assessors wait for an answer to, by kind; kinds without any are left out."""
    counts = dict(remarks_for(viewer, campaign).order_by().values_list("kind").annotate(Count("pk")))
    wanted = (RemarkKind.FLAG, RemarkKind.REOPEN, RemarkKind.COMMENT)
    oldest = {kind: tuple(remarks_for(viewer, campaign, kind=kind)[:SHOWN]) for kind in wanted}
    return [Asked(kind, counts[kind], oldest[kind]) for kind in wanted if kind in counts]
