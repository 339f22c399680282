"""Beats of the windows, every 15 s each: stored as stretches, believed no further than the server's clock.

A beat costs four statements: the desk, its stretches, the changed ones, the desk again.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, field_validator

from accounts.models import User
from assessor.desk.context import OPEN_STATES, free_in, holder_age, lock_desk
from assessor.models import Desk, Operation, TimeSegment
from assessor.rules.clock import (
    SECOND,
    SLACK,
    BeatArrival,
    Milliseconds,
    SentStretch,
    Stretch,
    active_time,
    decisions_in,
    ended_gaps,
    limit_of,
    milliseconds,
    moment,
    placed,
)
from assessor.rules.op_schemas import WindowId
from assessor.timing.times import SEGMENT_FIELDS, stretch_of
from evaluation.errors import Refused
from evaluation.models import Task
from evaluation.terms import PageState, SegmentKind

BIGGEST_PLACE = 20_000  # characters of JSON


class Beat(BaseModel):
    """A heartbeat. Other fields are ignored: a page that was opened before an update may send more."""

    model_config = ConfigDict(extra="ignore")

    window: WindowId
    segments: Annotated[list[SentStretch], Field(max_length=500)]
    place: dict[str, Any] | None = None
    elapsed_ms: Milliseconds
    page: PageState = PageState.VISIBLE

    @field_validator("place")
    @classmethod
    def _is_small(cls, place: dict[str, Any] | None) -> dict[str, Any] | None:
        if place and len(json.dumps(place, allow_nan=False)) > BIGGEST_PLACE:
            raise ValueError(f"a place has at most {BIGGEST_PLACE} characters")
        return place


@dataclass(frozen=True, slots=True)
class LongGap:
    """A gap beyond the idle limit that is over: its assessor may say what it was."""

    number: int
    seconds: int


@dataclass(frozen=True, slots=True)
class BeatReceipt:
    """The answer: who holds the desk, and the active seconds of this submission so far."""

    server_time: str
    holder: str
    holder_age_s: int
    free_in_s: int | None
    seconds: int
    gap: LongGap | None


def beat(*, task: str, user: User, beat: Beat) -> BeatReceipt:
    """Store what a window says of its time and renew its hold. Raises `NoSuchTask`.

    A window that lost the desk to another makes time until then; a task that is not open makes none.
    """
    with transaction.atomic():
        desk = lock_desk(task, user)
        now = timezone.now()
        # Under the desk's lock: two beats of a window at once would both find a stretch missing.
        stored = _stretches(desk, beat.window)
        ongoing = [segment for segment, version in stored if version == desk.task.version]
        current = {(segment.window, segment.number): segment for segment in ongoing}
        rows: list[Stretch] = []
        if desk.task.state in OPEN_STATES:
            rows = _until_taken(desk, beat.window, stored, _placed(desk, beat, stored, milliseconds(now)))
            # A beat may hold stretches that are stored already; unchanged ones cost no write.
            worked = [*rows, *_decided(desk, rows)]
            _write(desk, [row for row in worked if current.get((row.window, row.number)) != row])
            current |= {(row.window, row.number): row for row in worked}
        if desk.holder in ("", beat.window):
            _renew(desk, beat)
    limit = limit_of(desk.task.stage)
    long = next((gap for gap in ended_gaps(rows) if gap.length > limit(gap.words)), None)
    return BeatReceipt(
        server_time=now.isoformat(),
        holder={"": "free", beat.window: "mine"}.get(desk.holder, "other"),
        holder_age_s=holder_age(desk.held_at),
        free_in_s=free_in(desk),
        seconds=active_time(current.values(), limit).point // SECOND,
        gap=LongGap(long.number, long.length // SECOND) if long else None,
    )


def active_seconds(task: Task, version: int) -> int:
    segments = TimeSegment.objects.filter(task=task, submission=version)
    stretches = [stretch_of(*fields) for fields in segments.values_list(*SEGMENT_FIELDS)]
    return active_time(stretches, limit_of(task.stage)).point // SECOND


def answer_gap(*, task: str, user: User, window: str, number: int, gap_answer: str) -> None:
    """Write what an assessor says a gap was. Raises `NoSuchTask`; `Refused` for no gap, and when it is too late."""
    with transaction.atomic():
        desk = lock_desk(task, user)
        # Submitted time is settled: what a gap was can no longer change what reports show.
        if desk.task.state not in OPEN_STATES:
            raise Refused("not_open", f"This task is {desk.task.state}; its time stands as it is.")
        gaps = TimeSegment.objects.filter(task=desk.task, submission=desk.task.version, kind=SegmentKind.GAP)
        if not gaps.filter(window=window, number=number).update(gap_answer=gap_answer):
            raise Refused("no_such_gap", "This pause is not known here.")


def _stretches(desk: Desk, window: str) -> list[tuple[Stretch, int]]:
    """Return the stretches of the submission being made, and all of this window, with their submissions."""
    rows = TimeSegment.objects.filter(Q(submission=desk.task.version) | Q(window=window), task=desk.task)
    return [(stretch_of(*fields), version) for version, *fields in rows.values_list("submission", *SEGMENT_FIELDS)]


def _placed(desk: Desk, beat: Beat, stored: Sequence[tuple[Stretch, int]], now: int) -> list[Stretch]:
    """Return the beat's stretches on the server's clock. Those of an earlier submission are settled."""
    own = [(segment, version) for segment, version in stored if segment.window == beat.window]
    current = {segment.number: segment for segment, version in own if version == desk.task.version}
    # A window may outlive a submission; its numbers from before must not make time in the next one.
    settled = {segment.number for segment, version in own if version != desk.task.version}
    opened = milliseconds(desk.task.opened_at) if desk.task.opened_at else now
    # No stretch may begin before what is known: a browser's clock could otherwise claim time twice.
    since = max((segment.end for segment, _ in stored), default=opened)
    sent = [segment for segment in beat.segments if segment.number not in settled]
    return placed(beat.window, sent, current, BeatArrival(now, max(since, opened), beat.elapsed_ms))


def _until_taken(
    desk: Desk, window: str, stored: Sequence[tuple[Stretch, int]], rows: Sequence[Stretch]
) -> list[Stretch]:
    """Return what counts of a window's stretches: all while it holds the desk, else those until it was taken over.

    Two windows open side by side are one person: only the one that writes makes time.
    """
    if desk.holder in ("", window):
        return list(rows)
    ends = [segment.end for segment, _ in stored if segment.window == window]
    if not ends or desk.held_at is None:
        return []
    # The holder's first stretch since; one that has sent none yet took the desk when it was last heard of.
    since = max(ends) - SLACK
    begun = [segment.start for segment, _ in stored if segment.window == desk.holder and segment.start >= since]
    taken = min(begun, default=milliseconds(desk.held_at))
    return [replace(row, end=min(row.end, max(row.start, taken))) for row in rows if row.start < taken]


def _decided(desk: Desk, rows: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield the stretches of decisions that fall into pauses: whoever decides is at work. Text is saved by itself."""
    for pause in (row for row in rows if row.kind is SegmentKind.PAUSED):
        acts = Operation.objects.filter(task=desk.task, window=pause.window).exclude(source="text")
        within = acts.filter(at__range=(moment(pause.start), moment(pause.end))).values_list("seq", "at")
        yield from decisions_in(pause, [(seq, milliseconds(at)) for seq, at in within])


def _write(desk: Desk, rows: Iterable[Stretch]) -> None:
    segments = [
        TimeSegment(
            task=desk.task,
            submission=desk.task.version,
            window=row.window,
            number=row.number,
            kind=row.kind,
            started_at=moment(row.start),
            ended_at=moment(row.end),
            words=row.words,
            blurred=row.blurred,
            offline=row.offline,
            item=row.item,
        )
        for row in rows
    ]
    if segments:
        TimeSegment.objects.bulk_create(
            segments,
            # A beat sent again finds its rows; only the end of a stretch that goes on may move.
            update_conflicts=True,
            unique_fields=["task", "window", "number"],
            update_fields=["ended_at"],
        )


def _renew(desk: Desk, beat: Beat) -> None:
    changed = []
    if desk.holder == beat.window:
        desk.held_at, desk.holder_page = timezone.now(), beat.page
        changed += ["held_at", "holder_page"]
    if beat.place is not None and beat.place != desk.place:
        desk.place = beat.place
        changed.append("place")
    if changed:
        desk.save(update_fields=changed)
