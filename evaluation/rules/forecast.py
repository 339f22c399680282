"""When the work that is handed out will be done, told from the times of what is done already.

Hours are active hours. Nothing is foretold from fewer than three times of a stage, or where nobody worked lately.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import median, quantiles
from typing import Final

from evaluation.terms import Stage

FEWEST: Final = 3
"""Times of a stage below which a median says nothing."""
LATELY: Final = timedelta(days=14)
"""How far back the pace of the people is looked at."""
FARTHEST: Final = 5 * 365
"""Days beyond which a date says nothing."""


@dataclass(frozen=True, slots=True)
class Spread:
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
class Pace:
    """How fast the people were lately: how many worked, and their active hours a day, all together."""

    people: int
    hours: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the open tasks will be done. `hours` is what they still need at the medians.

    `first` and `last`: the days on which they would be done at the lower and at the upper quartiles; None where too
    little is known. `unknown` are the stages of open tasks with too few times.
    """

    tasks: int
    pace: Pace
    spreads: dict[Stage, Spread]
    unknown: tuple[Stage, ...]
    hours: float = 0.0
    first: date | None = None
    last: date | None = None


def spread_of(hours: Sequence[float]) -> Spread | None:
    """Return the quartiles of some times, None of nothing."""
    if len(hours) < 2:
        return Spread(hours[0], hours[0], hours[0], 1) if hours else None
    low, _, high = quantiles(hours, n=4, method="inclusive")
    return Spread(low, median(hours), high, len(hours))


def pace_of(people: Collection[int], hours: float, since: datetime | None, now: datetime) -> Pace:
    """Return the pace: active hours since a moment, over the days from it to now, at least one."""
    days = max(1.0, (now - since) / timedelta(days=1)) if since else 1.0
    return Pace(len(people), hours / days)


def forecast(
    tasks: Sequence[OpenTask], spreads: Mapping[Stage, Spread | None], pace: Pace, now: datetime
) -> Forecast:
    """Return when tasks are done at the people's pace. What went into a task already is taken off its time."""
    stages = [stage for stage in Stage if any(task.stage is stage for task in tasks)]
    known = {stage: one for stage in stages if (one := spreads.get(stage)) and one.number >= FEWEST}
    unknown = tuple(stage for stage in stages if stage not in known)
    if unknown or not tasks or not pace.hours:
        return Forecast(len(tasks), pace, known, unknown)
    low, middle, high = (
        sum(max(0.0, getattr(known[task.stage], name) - task.spent) for task in tasks)
        for name in ("low", "median", "high")
    )
    if high / pace.hours > FARTHEST:
        return Forecast(len(tasks), pace, known, unknown, middle)
    first, last = ((now + timedelta(days=hours / pace.hours)).date() for hours in (low, high))
    return Forecast(len(tasks), pace, known, unknown, middle, first, last)
