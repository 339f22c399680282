"""The times of all submissions of a campaign at once, each computed again only when its stretches have changed.

A campaign has hundreds of thousands of stretches, and the rules are Python: reading them anew for each look at a page
would take seconds. The database says by task and submission what would show that something is different.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final

from django.db.models import Count, F, Max, Min, Q, Sum
from django.utils import timezone

from accounts.models import User
from evaluation.models import Campaign, Submission, Task, TimeSegment
from evaluation.queries.campaigns import within
from evaluation.queries.timing import CHUNK, FIELDS, stretch_of
from evaluation.rules.clock import AWAY, PRESENT, READING, Stretch, Times, limit_of, measure
from evaluation.rules.forecast import LATELY
from evaluation.terms import Stage, TaskState

KEPT: Final = 20_000
"""How many submissions' times a process keeps, about 1 kB each."""

Key = tuple[int, int]
"""A task and the number of one of its submissions."""
Mark = tuple[Any, ...]
"""What shows that the stretches of a submission are as they were."""

_LENGTH = F("ended_at") - F("started_at")


@dataclass(frozen=True, slots=True)
class KeptTime:
    """The times of one submission. `submitted`: it is frozen. `whole`: it is not only of a study's pairs.

    `lately`: milliseconds of it in which the screen was visible within the last two weeks, `began` when the first of
    them were; `seen`: the end of its last stretch.
    """

    task: int
    version: int
    topic: int
    assessor: int
    stage: Stage
    submitted: bool
    whole: bool
    times: Times
    lately: int
    began: datetime | None
    seen: datetime

    @property
    def is_first(self) -> bool:
        """Say whether it is a finished first submission of everything: what medians are over."""
        return self.submitted and self.whole and self.version == 1


class _Store:
    """Times by submission, the ones not used for longest thrown away first."""

    def __init__(self, size: int) -> None:
        self._kept: OrderedDict[Key, tuple[Mark, Times]] = OrderedDict()
        self._size, self._lock = size, Lock()

    def found(self, marks: dict[Key, Mark]) -> dict[Key, Times]:
        with self._lock:
            return {
                key: self._kept[key][1] for key, mark in marks.items() if self._kept.get(key, ((),))[0] == mark
            }

    def keep(self, marks: dict[Key, Mark], times: dict[Key, Times]) -> None:
        with self._lock:
            for key, one in times.items():
                self._kept[key] = (marks[key], one)
                self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


_store = _Store(KEPT)


def kept_times_for(viewer: User, campaign: Campaign) -> list[KeptTime]:
    """Return the times of a campaign's submissions as far as the viewer may see them: three queries or four.

    Withdrawn work is left out.
    """
    tasks = Task.objects.filter(campaign__in=within(viewer, campaign)).exclude(state=TaskState.WITHDRAWN)
    known = {
        row[0]: row[1:] for row in tasks.order_by().values_list("pk", "topic__pk", "assessor", "stage", "study")
    }
    rows = {(row["task"], row["submission"]): row for row in _changes(known)}
    marks = {key: _mark(row) for key, row in rows.items()}
    times = _store.found(marks)
    lacking = marks.keys() - times.keys()
    if lacking:
        measured = _measured(lacking, {pk: Stage(row[2]) for pk, row in known.items()})
        _store.keep(marks, measured)
        times |= measured
    submitted = set(Submission.objects.filter(task__in=tasks).values_list("task", "version"))
    return [
        KeptTime(
            task=key[0],
            version=key[1],
            topic=known[key[0]][0],
            assessor=known[key[0]][1],
            stage=Stage(known[key[0]][2]),
            submitted=key in submitted,
            whole=known[key[0]][3] is None,
            times=times[key],
            lately=_milliseconds(rows[key]["lately"]),
            began=rows[key]["began"],
            seen=rows[key]["seen"],
        )
        for key in sorted(rows)
    ]


def _changes(tasks: Collection[int]) -> list[dict[str, Any]]:
    """Return by submission what shows a change: a beat moves an end, an answer about a gap changes a word."""
    lately = Q(ended_at__gte=timezone.now() - LATELY, kind__in=PRESENT)
    rows = TimeSegment.objects.filter(task__in=tasks).order_by().values("task", "submission")
    counted = rows.annotate(
        number=Count("pk"),
        whole=Sum(_LENGTH),
        reading=Count("pk", filter=Q(said=READING)),
        away=Count("pk", filter=Q(said=AWAY)),
        lately=Sum(_LENGTH, filter=lately),
        began=Min("started_at", filter=lately),
        seen=Max("ended_at"),
    )
    return [dict(row) for row in counted]


def _mark(row: dict[str, Any]) -> Mark:
    return tuple(row[name] for name in ("number", "whole", "reading", "away", "seen"))


def _measured(keys: Collection[Key], stages: dict[int, Stage]) -> dict[Key, Times]:
    """Compute times as the report does, from all stretches of these submissions in one query."""
    wanted = {task for task, _ in keys}
    rows = TimeSegment.objects.filter(task__in=wanted).order_by("task", "started_at", "window", "number")
    found: dict[Key, list[Stretch]] = defaultdict(list)
    for task, version, *fields in rows.values_list("task", "submission", *FIELDS).iterator(chunk_size=CHUNK):
        if (task, version) in keys:
            found[task, version].append(stretch_of(*fields))
    return {key: measure(stretches, limit_of(stages[key[0]])) for key, stretches in found.items()}


def _milliseconds(length: timedelta | None) -> int:
    return length // timedelta(milliseconds=1) if length else 0
