"""Progress of the topics, and the tasks that need an organizer today."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from operator import itemgetter
from statistics import median, quantiles
from typing import Final

from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from assessor.desk.context import OPEN_STATES
from assessor.models import Desk
from assessor.progress.matrix import UNTOUCHED, tasks_for
from evaluation.models import Campaign, Task
from evaluation.rules.tasks import ACTIVE
from evaluation.stages import STAGES, Stage
from evaluation.terms import TaskState


def open_tasks_for(viewer: User, campaign: Campaign) -> list[tuple[int, Stage]]:
    rows = tasks_for(viewer, campaign).filter(state__in=[*ACTIVE, TaskState.BLOCKED], study=None).order_by("pk")
    return list(rows.values_list("pk", "stage"))


def tasks_in_need_for(viewer: User, campaign: Campaign) -> tuple[list[Task], list[tuple[Task, datetime]]]:
    """Return the blocked tasks, and those begun and not touched for a day, each with when somebody was last at it."""
    rows = tasks_for(viewer, campaign).filter(Q(state=TaskState.BLOCKED) | Q(state__in=OPEN_STATES))
    tasks = list(rows.select_related("topic", "assessor"))
    held = dict(Desk.objects.filter(task__in=tasks).values_list("task", "held_at"))
    begun = [task for task in tasks if task.state in OPEN_STATES]
    touched = [(task, held.get(task.pk) or task.opened_at or task.created_at) for task in begun]
    before = timezone.now() - UNTOUCHED
    untouched = sorted(((task, since) for task, since in touched if since < before), key=itemgetter(1))
    return [task for task in tasks if task.state == TaskState.BLOCKED], untouched


FEWEST: Final = 3
"""Times of a stage below which a median says nothing."""
LATELY: Final = timedelta(days=14)
"""Span of time from which the pace of the people is computed."""
FARTHEST: Final = 5 * 365
"""Days beyond which a date says nothing."""


@dataclass(frozen=True, slots=True)
class Quartiles:
    """The quartiles of some times, in hours, and how many times there are."""

    low: float
    median: float
    high: float
    number: int


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task that is not submitted, and the hours that went into it so far."""

    stage: Stage
    spent: float = 0.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the open tasks will be done. `pace`: active hours a day of all people lately.

    `first` and `last`: the days on which they would be done at the lower and at the upper quartiles; None where too
    little is known. `unknown` are the stages of open tasks with too few times, `fewest` the least number of those.
    """

    tasks: int
    pace: float
    unknown: tuple[Stage, ...] = ()
    fewest: int = 0
    first: date | None = None
    last: date | None = None


def spread_of(hours: Sequence[float]) -> Quartiles | None:
    if len(hours) < 2:
        return Quartiles(hours[0], hours[0], hours[0], 1) if hours else None
    low, _, high = quantiles(hours, n=4, method="inclusive")
    return Quartiles(low, median(hours), high, len(hours))


def pace_of(hours: float, since: datetime, now: datetime) -> float:
    """Return active hours a day: those since a moment, over the days from it to now, at least one."""
    return hours / max(1.0, (now - since) / timedelta(days=1))


def forecast(
    tasks: Sequence[OpenTask], spreads: Mapping[Stage, Quartiles | None], pace: float, now: datetime
) -> Forecast:
    """Return when tasks are done at the people's pace. Hours spent on a task already are taken off its time."""
    stages = [stage for stage in STAGES.values() if any(task.stage is stage for task in tasks)]
    usual = {stage: spread for stage in stages if (spread := spreads.get(stage)) and spread.number >= FEWEST}
    if unknown := tuple(stage for stage in stages if stage not in usual):
        numbers = [spread.number if (spread := spreads.get(stage)) else 0 for stage in unknown]
        return Forecast(len(tasks), pace, unknown, min(numbers))
    low, high = (
        sum(max(0.0, getattr(usual[task.stage], name) - task.spent) for task in tasks) for name in ("low", "high")
    )
    if not tasks or not pace or high / pace > FARTHEST:
        return Forecast(len(tasks), pace)
    first, last = (timezone.localdate(now + timedelta(days=hours / pace)) for hours in (low, high))
    return Forecast(len(tasks), pace, first=first, last=last)
