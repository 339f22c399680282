"""Active time, computed from the stretches of the windows alone, so that the rule can change after the study.

A stretch is one window's: of one kind, without a pause of input of 30 s or more, or such a pause itself (a gap).
Laid over each other, the windows of one person make one timeline in which no moment counts twice. In it a gap within
the idle limit is work. Of a longer gap nobody knows, so it is reported as a low, a likely and a high figure.
All times are whole milliseconds, so that whoever recomputes gets the same digits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluation.errors import Refused
from evaluation.stages import Stage
from evaluation.terms import SegmentKind

RULE_VERSION = 1
"""Goes up with every change of a figure that this module gives for the same stretches."""

SECOND = 1000
SHORTEST_LIMIT = 30
"""Seconds. Stretches are cut at pauses of this length, so a shorter idle limit cannot be computed from them."""

WORDS_PER_MINUTE = 100
PUBLISHED_LIMITS = (60, 120, 180, 300)
SESSION_BREAK = 30 * 60 * SECOND
JOIN = 1 * SECOND  # gaps so near to each other are one gap: beats arrive with a little jitter

ACTIVE = (SegmentKind.EDITING, SegmentKind.READING)
PRESENT = (*ACTIVE, SegmentKind.GAP)
RANKS = (*PRESENT, SegmentKind.PAUSED, SegmentKind.HIDDEN, SegmentKind.SUSPENDED)

READING, AWAY = "reading", "away"

Limit: TypeAlias = Callable[[int], int]
Bounds: TypeAlias = tuple[int, int]
"""The shortest and longest idle limit of a kind of screen, in seconds."""

NUGGET_SCREENS = (180, 600)
JUDGING_SCREENS = (120, 300)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Times are milliseconds since 1970 by the server's clock. `item`: the nugget or passage in focus."""

    window: str
    number: int
    kind: SegmentKind
    start: int
    end: int
    words: int = 0
    blurred: bool = False
    offline: bool = False
    gap_answer: str = ""
    item: str = ""

    @property
    def length(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Active:
    """Active time: without the gaps beyond the limit, with the limit for each of them, and with all of them."""

    low: int = 0
    point: int = 0
    high: int = 0

    def __add__(self, other: "Active") -> "Active":
        return Active(self.low + other.low, self.point + other.point, self.high + other.high)


@dataclass(frozen=True, slots=True)
class Quiet:
    """A time without input at any window, as long as a screen was visible. `kind`: of what went before."""

    length: int
    words: int
    gap_answer: str
    kind: SegmentKind

    def credit(self, limit: Limit) -> Active:
        allowed = limit(self.words)
        within = self.length <= allowed
        # The assessor knows best; the high figure keeps the gap for whoever doubts it.
        if self.gap_answer == AWAY:
            return Active(0, 0, self.length)
        point = self.length if self.gap_answer == READING else min(self.length, allowed)
        return Active(self.length if within else 0, point, self.length)


@dataclass(frozen=True, slots=True)
class Times:
    """Times of one submission, in milliseconds. Reading and editing make up the point estimate.

    `at`: the point under the fixed idle limits that studies use, by seconds.
    """

    wall: int
    presence: int
    active: Active
    at: dict[int, int]
    reading: int
    editing: int
    hidden: int
    paused: int
    suspended: int
    offline: int
    blurred: int
    sessions: int


def milliseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def moment(at: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)


def limit_of(stage: Stage) -> Limit:
    """Return the idle limit of a stage's screen: the time a slow reader needs for the words on it."""
    return limit_by_words(JUDGING_SCREENS if stage.judges else NUGGET_SCREENS)


def limit_by_words(bounds: Bounds) -> Limit:
    shortest, longest = bounds

    def limit(words: int) -> int:
        # A slow reader: a shorter limit would call careful reading idle (docs/time.md).
        reading = words * 60 * SECOND // WORDS_PER_MINUTE
        return min(max(reading, shortest * SECOND), longest * SECOND)

    return limit


def fixed_limit(seconds: int) -> Limit:
    """Return the same limit for every screen. Raises `Refused` for one that the stretches cannot tell."""
    if seconds < SHORTEST_LIMIT:
        raise Refused(
            "usage", f"An idle limit is at least {SHORTEST_LIMIT} s: time is cut at pauses of that length."
        )
    return lambda words: seconds * SECOND


def measure(stretches: Iterable[Stretch], limit: Limit) -> Times:
    """Return the times of one submission under an idle limit, from its stretches in any order."""
    pieces = timeline(stretches)
    quiets = list(quiets_of(pieces))
    active = _active(pieces, quiets, limit)
    reading = _lengths(pieces, SegmentKind.READING)
    reading += sum(quiet.credit(limit).point for quiet in quiets if quiet.kind is SegmentKind.READING)
    return Times(
        wall=pieces[-1].end - pieces[0].start if pieces else 0,
        presence=_lengths(pieces, *PRESENT, SegmentKind.PAUSED),
        active=active,
        at={seconds: _active(pieces, quiets, fixed_limit(seconds)).point for seconds in PUBLISHED_LIMITS},
        reading=reading,
        editing=active.point - reading,
        hidden=_lengths(pieces, SegmentKind.HIDDEN),
        paused=_lengths(pieces, SegmentKind.PAUSED),
        suspended=_lengths(pieces, SegmentKind.SUSPENDED),
        offline=_lengths([piece for piece in pieces if piece.offline], *PRESENT),
        blurred=_lengths([piece for piece in pieces if piece.blurred], *PRESENT),
        sessions=_sessions(pieces),
    )


def active_time(stretches: Iterable[Stretch], limit: Limit) -> Active:
    pieces = timeline(stretches)
    return _active(pieces, quiets_of(pieces), limit)


def timeline(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Lay the windows over each other: pieces in order that never overlap. Input beats a gap, a gap a hidden page."""
    lasting = [stretch for stretch in stretches if stretch.end > stretch.start]
    coming = sorted(lasting, key=lambda stretch: stretch.start, reverse=True)
    edges = sorted({edge for segment in coming for edge in (segment.start, segment.end)})
    there: list[Stretch] = []
    pieces: list[Stretch] = []
    for start, end in pairwise(edges):
        there = [segment for segment in there if segment.end > start]
        while coming and coming[-1].start <= start:
            there.append(coming.pop())
        if there:
            pieces.append(_piece(there, start, end))
    return pieces


def _piece(there: Sequence[Stretch], start: int, end: int) -> Stretch:
    """Return the piece in which several stretches run: of the first kind of `RANKS`, with the flags that all have."""
    kind = min((segment.kind for segment in there), key=RANKS.index)
    alike = [segment for segment in there if segment.kind is kind]
    counted = sorted(alike, key=lambda segment: (segment.start, segment.window, segment.number))
    return replace(
        counted[0],
        start=start,
        end=end,
        words=max(segment.words for segment in counted),
        blurred=all(segment.blurred for segment in counted),
        offline=all(segment.offline for segment in counted),
        # Answered at one window, the gap is answered for all that show it.
        gap_answer=next((segment.gap_answer for segment in reversed(counted) if segment.gap_answer), ""),
    )


def quiets_of(pieces: Sequence[Stretch]) -> Iterator[Quiet]:
    """Yield the quiet times: neighbouring gaps are one, however many windows or tags cut them."""
    kind, end = SegmentKind.READING, 0
    run = 0
    runs: list[tuple[int, SegmentKind, Stretch]] = []
    for piece in pieces:
        if piece.kind in ACTIVE:
            kind, run = piece.kind, run + 1
        elif piece.kind is SegmentKind.GAP:
            run += piece.start - end > JOIN
            runs.append((run, kind, piece))
        else:
            run += 1
        end = piece.end
    for (_, before), group in groupby(runs, key=lambda segment: segment[:2]):
        gaps = [piece for *_, piece in group]
        gap_answer = next((gap.gap_answer for gap in reversed(gaps) if gap.gap_answer), "")
        yield Quiet(sum(gap.length for gap in gaps), max(gap.words for gap in gaps), gap_answer, before)


def _active(pieces: Iterable[Stretch], quiets: Iterable[Quiet], limit: Limit) -> Active:
    length = _lengths(pieces, *ACTIVE)
    return sum((quiet.credit(limit) for quiet in quiets), start=Active(length, length, length))


def _lengths(pieces: Iterable[Stretch], *kinds: SegmentKind) -> int:
    return sum(piece.length for piece in pieces if piece.kind in kinds)


def _sessions(pieces: Iterable[Stretch]) -> int:
    """Count the sittings: input half an hour or more after the input before begins another."""
    worked = [piece for piece in pieces if piece.kind in ACTIVE]
    breaks = sum(after.start - before.end >= SESSION_BREAK for before, after in pairwise(worked))
    return breaks + 1 if worked else 0


SLACK = 5 * SECOND
"""A beat travels, and a tab in the background is woken late: nearer than this is no contradiction."""

DECIDED, RESUMED = "decided", "resumed"
"""In place of a window: stretches that follow from operations. Ids of windows are longer."""

Milliseconds = Annotated[int, Field(ge=0, le=30 * 24 * 60 * 60 * SECOND)]


class SentStretch(BaseModel):
    """A stretch as a window sends it, by its monotonic clock: a wall clock may jump while somebody works."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: Annotated[int, Field(ge=0, le=2_147_483_647)]
    kind: SegmentKind
    ms_before_now_start: Milliseconds
    ms_before_now_end: Milliseconds
    words: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    blurred: bool = False
    offline: bool = False
    item: Annotated[str, Field(max_length=36)] = ""

    @model_validator(mode="after")
    def _runs_forward(self) -> Self:
        if self.ms_before_now_end > self.ms_before_now_start:
            raise ValueError("a segment ends after it starts")
        return self


@dataclass(frozen=True, slots=True)
class BeatArrival:
    """State of the server when a beat comes in, in milliseconds.

    `since`: moment of the task's last beat by any window, before which an unknown window cannot have worked without a
    connection. `elapsed`: time since the window's last answered beat, by its own clock.
    """

    now: int
    since: int
    elapsed: int


def placed(
    window: str, sent: Iterable[SentStretch], stored: Mapping[int, Stretch], arrival: BeatArrival
) -> list[Stretch]:
    """Return the stretches of a beat as they are to be stored. `stored`: the window's, by number.

    A stored stretch keeps its beginning, kind and tags; only its end moves. Sending a beat again changes nothing.
    """
    ordered = sorted({segment.number: segment for segment in sent}.values(), key=lambda segment: segment.number)
    shift = _shift(ordered, stored, arrival.now)
    newest = max(stored.values(), key=lambda segment: segment.end, default=None)
    rows: list[Stretch] = []
    regained: Stretch | None = None
    for segment in ordered:
        # No time lies ahead of the server's clock, whatever the window counts.
        start, end = (
            min(arrival.now - before + shift, arrival.now)
            for before in (segment.ms_before_now_start, segment.ms_before_now_end)
        )
        row = stored.get(segment.number)
        if row is not None:
            rows.append(_moved(row, segment, end, newest))
            regained = rows[-1] if row is newest else regained
            continue
        start = min(max(start, _floor(segment, newest, regained, arrival)), arrival.now)
        tags = (segment.words, segment.blurred, segment.offline)
        rows.append(
            Stretch(window, segment.number, segment.kind, start, max(start, end), *tags, item=segment.item)
        )
    return rows


def _shift(ordered: Iterable[SentStretch], stored: Mapping[int, Stretch], now: int) -> int:
    """Return by how much this beat travelled longer or shorter than earlier ones, told from a stored beginning.

    More than the slack is no travelling: then the machine slept and its clock stood still.
    """
    shifts = [
        stored[segment.number].start - (now - segment.ms_before_now_start)
        for segment in ordered
        if segment.number in stored
    ]
    return shifts[-1] if shifts and abs(shifts[-1]) <= SLACK else 0


def _moved(row: Stretch, segment: SentStretch, end: int, newest: Stretch | None) -> Stretch:
    """Return a stored stretch with its new end. One that ended before the last beat does not grow."""
    end = min(end, row.start + segment.ms_before_now_start - segment.ms_before_now_end)
    if newest is not None and row.end < newest.end:
        end = min(end, row.end)
    return replace(row, end=max(row.start, end))


def _floor(segment: SentStretch, newest: Stretch | None, regained: Stretch | None, arrival: BeatArrival) -> int:
    """Return the earliest moment at which a new stretch may begin.

    That is the window's last beat, less the slack; or where the open stretch now ends earlier than it did, for what
    is worth no more than it: 30 s without input turn the end of a reading into a gap.
    """
    # A window that was unknown before: without a connection it may have worked since the last beat of any.
    if newest is None:
        return min(arrival.since, arrival.now) - SLACK if segment.offline else arrival.now - SLACK
    floor = max(newest.end, arrival.now - arrival.elapsed) - SLACK
    if regained is not None and _worth(segment.kind) <= _worth(newest.kind):
        return min(floor, regained.end)
    return floor


def _worth(kind: SegmentKind) -> int:
    return 2 if kind in ACTIVE else int(kind is SegmentKind.GAP)


def decisions_in(pause: Stretch, decisions: Iterable[tuple[int, int]]) -> Iterator[Stretch]:
    """Yield what lies over a pause in which something was decided: each decision, and the time from the first on.

    `decisions`: the number and moment of each, in order. A window without a connection sent its own later.
    """
    # What was decided just before may arrive in the pause.
    within = [entry for entry in decisions if pause.start + SLACK < entry[1] < pause.end and not pause.offline]
    for number, at in within:
        end = min(at + SECOND, pause.end)
        yield replace(pause, window=DECIDED, number=number, kind=SegmentKind.EDITING, start=at, end=end)
    for number, at in within[:1]:
        yield replace(pause, window=RESUMED, number=number, kind=SegmentKind.GAP, start=at)


def ended_gaps(rows: Sequence[Stretch]) -> Iterator[Stretch]:
    """Yield the gaps of a beat that are over: their assessor can still say what they were."""
    newest = max((row.number for row in rows), default=0)
    return (row for row in rows if row.kind is SegmentKind.GAP and row.number < newest and not row.gap_answer)
