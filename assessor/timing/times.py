"""Times of topics: per submitted version, from the stretches that the desks recorded."""

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from statistics import median
from threading import Lock
from typing import Any, Final

from django.db.models import Count, FloatField, Func, Max, Q, QuerySet, Sum
from django.utils import timezone

from accounts.models import User
from assessor.models import TimeSegment
from assessor.rules.clock import (
    AWAY,
    PRESENT,
    READING,
    SECOND,
    Limit,
    Stretch,
    Times,
    limit_of,
    measure,
    milliseconds,
    moment,
)
from evaluation.campaigns.access import within
from evaluation.models import Campaign, Judge, Submission, Task
from evaluation.stages import Stage
from evaluation.terms import SegmentKind, TaskState

SEGMENT_FIELDS = (
    "window",
    "number",
    "kind",
    "started_at",
    "ended_at",
    "words",
    "blurred",
    "offline",
    "gap_answer",
    "item",
)


@dataclass(frozen=True, slots=True)
class Timed:
    """Timed submission, final if `submitted`. `whole`: everything of the topic was asked, not only a study's pairs."""

    campaign: str
    topic_id: str
    stage: Stage
    assessor: str
    version: int
    submitted: bool
    whole: bool = True


@dataclass(frozen=True, slots=True)
class TopicTime:
    timed: Timed
    times: Times


def times_in(campaigns: QuerySet[Campaign], limit: Limit | None = None) -> list[TopicTime]:
    """Return the times of each submission, in the order of topics. Without a limit that of each stage's screen."""
    return [
        TopicTime(timed, measure(stretches, limit or limit_of(timed.stage)))
        for timed, stretches in recorded_in(campaigns)
    ]


def recorded_in(campaigns: QuerySet[Campaign]) -> Iterator[tuple[Timed, list[Stretch]]]:
    """Yield each submission with its stretches, a task at a time. Withdrawn work is kept and not counted."""
    tasks = Task.objects.filter(campaign__in=campaigns).not_withdrawn()
    ordered = tasks.order_by("campaign__slug", "topic__position", "stage", "pk")
    judges = Judge.objects.filter(user__in=tasks.values("assessor"))
    names: dict[tuple[int | None, int | None], str] = {
        (user, study): name for user, study, name in judges.values_list("user", "study", "name")
    }
    submitted = set(Submission.objects.filter(task__in=tasks).values_list("task", "version"))
    for task in ordered.select_related("campaign", "topic", "assessor"):
        by_version = stretches_of(TimeSegment.objects.filter(task=task))
        for (_, version), stretches in sorted(by_version.items()):
            timed = Timed(
                campaign=task.campaign.slug,
                topic_id=task.topic.topic_id,
                stage=task.stage,
                assessor=names.get((task.assessor_id, task.study_id), task.assessor.name),
                version=version,
                submitted=(task.pk, version) in submitted,
                whole=task.study_id is None,
            )
            yield timed, stretches


def stretches_of(rows: QuerySet[TimeSegment]) -> dict[tuple[int, int], list[Stretch]]:
    """Return stretches by task and number of the submission, each in their order."""
    stretches: dict[tuple[int, int], list[Stretch]] = defaultdict(list)
    ordered = rows.order_by("task", "started_at", "window", "number")
    for task, version, *fields in ordered.values_list("task", "submission", *SEGMENT_FIELDS).iterator():
        stretches[task, version].append(stretch_of(*fields))
    return stretches


def stretch_of(window: str, number: int, kind: str, started: datetime, ended: datetime, *tags: Any) -> Stretch:
    return Stretch(window, number, SegmentKind(kind), milliseconds(started), milliseconds(ended), *tags)


KEPT: Final = 20_000
"""Number of submissions whose times a process keeps, about 1 kB each."""

Key = tuple[int, int]
"""A task and the number of one of its submissions."""
Mark = tuple[Any, ...]
"""Proof that the stretches of a submission are as they were when they were measured."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Times of one submission. `days`: milliseconds of a visible screen by UTC day; `seen`: end of the last stretch."""

    times: Times
    days: dict[date, int]
    seen: datetime


@dataclass(frozen=True, slots=True)
class KeptTime:
    """The times of one submission. `submitted`: it is frozen. `whole`: it is not only of a study's pairs."""

    task: int
    version: int
    topic: int
    assessor: int
    stage: Stage
    submitted: bool
    whole: bool
    recorded: Recorded

    @property
    def times(self) -> Times:
        return self.recorded.times

    @property
    def is_first(self) -> bool:
        return self.submitted and self.whole and self.version == 1

    def since(self, day: date) -> tuple[int, date | None]:
        """Return the milliseconds of a visible screen from a day on, and on which day they begin."""
        days = [shown_day for shown_day in self.recorded.days if shown_day >= day]
        return sum(self.recorded.days[day] for day in days), min(days, default=None)


class _Store:
    """Computed times by submission; the oldest is thrown away first."""

    def __init__(self, size: int) -> None:
        self._kept: OrderedDict[Key, tuple[Mark, Recorded]] = OrderedDict()
        self._size, self._lock = size, Lock()

    def records(self, marks: dict[Key, Mark]) -> dict[Key, Recorded]:
        # Threads of a server share the store.
        with self._lock:
            there = {key: self._kept[key] for key in marks if key in self._kept}
        return {key: record for key, (mark, record) in there.items() if mark == marks[key]}

    def keep(self, marks: dict[Key, Mark], recorded: dict[Key, Recorded]) -> None:
        with self._lock:
            for key, record in recorded.items():
                self._kept[key] = (marks[key], record)
                self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


_store = _Store(KEPT)


def kept_times_for(viewer: User, campaign: Campaign) -> list[KeptTime]:
    return _kept_times(within(viewer, campaign))


def _kept_times(campaigns: QuerySet[Campaign]) -> list[KeptTime]:
    """Three queries, or four. Withdrawn work is left out, and so is a submission without a stretch."""
    tasks = Task.objects.filter(campaign__in=campaigns).not_withdrawn().order_by()
    fields = ("pk", "topic_id", "assessor_id", "stage", "study_id", "state", "public_id")
    task_of = {task.pk: task for task in tasks.values_list(*fields, named=True)}
    # A submitted version never changes; of an open one each beat does. The public id tells databases apart.
    frozen: dict[Key, Mark] = {
        (task, version): (task_of[task].public_id, at)
        for task, version, at in Submission.objects.filter(task__in=tasks).values_list("task", "version", "at")
        if task in task_of
    }
    marks = _marks(pk for pk, task in task_of.items() if task.state != TaskState.SUBMITTED) | frozen
    records = _store.records(marks)
    lacking = marks.keys() - records.keys()
    if lacking:
        measured = _measured(lacking, {task: task_of[task].stage for task, _ in lacking})
        _store.keep(marks, measured)
        records |= measured
    return [
        KeptTime(
            task=task,
            version=version,
            topic=task_of[task].topic_id,
            assessor=task_of[task].assessor_id,
            stage=task_of[task].stage,
            submitted=(task, version) in frozen,
            whole=task_of[task].study_id is None,
            recorded=recorded,
        )
        for (task, version), recorded in sorted(records.items(), key=lambda entry: entry[0])
        if recorded.days or recorded.times.wall
    ]


def seconds_a_label(campaigns: QuerySet[Campaign], stage: Stage) -> float | None:
    """Return the median over first submissions only, those of a study among them; None before there is one."""
    rows = Submission.objects.filter(task__campaign__in=campaigns, labels__gt=0)
    labels = {(task, version): number for task, version, number in rows.values_list("task", "version", "labels")}
    paces = [
        row.times.active.point / SECOND / labels[row.task, row.version]
        for row in _kept_times(campaigns)
        if row.stage is stage and row.version == 1 and (row.task, row.version) in labels
    ]
    return median(paces) if paces else None


def hours_of_labels(campaigns: QuerySet[Campaign], stage: Stage, labels: int) -> float | None:
    seconds = seconds_a_label(campaigns, stage)
    return None if seconds is None else labels * seconds / 3600


class Moment(Func):
    """A moment as a number. SQLite has a function of its own; a difference of dates calls Python for each row."""

    template = "EXTRACT(EPOCH FROM %(expressions)s)::float"
    output_field = FloatField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, Any]:
        return self.as_sql(compiler, connection, template="julianday(%(expressions)s)", **extra)


def _marks(tasks: Iterable[int]) -> dict[Key, Mark]:
    """Return by submission what shows a change: a beat moves an end, an answer about a gap changes a word."""
    rows = TimeSegment.objects.filter(task__in=list(tasks)).order_by().values_list("task", "submission")
    counted = rows.annotate(
        number=Count("pk"),
        length=Sum(Moment("ended_at") - Moment("started_at")),
        reading=Count("pk", filter=Q(gap_answer=READING)),
        away=Count("pk", filter=Q(gap_answer=AWAY)),
        last=Max("ended_at"),
    )
    return {(task, version): tuple(mark) for task, version, *mark in counted}


def _measured(keys: Collection[Key], stages: dict[int, Stage]) -> dict[Key, Recorded]:
    """Compute times as the report does, from all stretches of these submissions in one query."""
    stretches = stretches_of(TimeSegment.objects.filter(task__in={task for task, _ in keys}))
    return {key: _recorded(stretches.get(key, []), stages[key[0]]) for key in keys}


def _recorded(stretches: list[Stretch], stage: Stage) -> Recorded:
    days: dict[date, int] = defaultdict(int)
    for stretch in stretches:
        if stretch.kind in PRESENT:
            days[timezone.localdate(moment(stretch.start))] += stretch.length
    seen = moment(max((stretch.end for stretch in stretches), default=0))
    return Recorded(measure(stretches, limit_of(stage)), dict(days), seen)


@dataclass(frozen=True, slots=True)
class OddTimes:
    """Times that no clock can have seen: days of a person beyond a day's work, and stretches that end after now."""

    days: tuple[tuple[int, date, float], ...]
    ahead: int


LONGEST_DAY: Final = timedelta(hours=16)
"""More than that of one person's work on one day is a clock gone wrong, or an account that two people use."""
AHEAD: Final = timedelta(minutes=5)


def odd_times(times: Iterable[KeptTime], since: date) -> OddTimes:
    """Odd times since a day: assessors with the day and its hours, and how many submissions end after now."""
    days: dict[tuple[int, date], int] = defaultdict(int)
    latest = timezone.now().astimezone(UTC) + AHEAD
    ahead = 0
    for row in times:
        ahead += row.recorded.seen > latest
        for day, length in row.recorded.days.items():
            if day >= since:
                days[row.assessor, day] += length
    longest = LONGEST_DAY / timedelta(milliseconds=1)
    hours = 3600 * SECOND
    odd = ((assessor, day, length / hours) for (assessor, day), length in days.items() if length > longest)
    return OddTimes(tuple(sorted(odd, key=lambda entry: (entry[1], entry[0]))), ahead)
