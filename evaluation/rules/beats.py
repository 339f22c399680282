"""Where on the server's clock a window's stretches lie, and how much of what it says is believed.

A window tells times by its own monotonic clock, as milliseconds before sending. What is believed can never exceed
the server's own time since that window's last beat by more than the slack, whatever the window says.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from evaluation.rules.clock import ACTIVE, SECOND, Stretch
from evaluation.terms import SegmentKind

SLACK = 5 * SECOND


@dataclass(frozen=True, slots=True)
class Sent:
    """A stretch as a window sends it; times are milliseconds before sending."""

    number: int
    kind: SegmentKind
    before_start: int
    before_end: int
    words: int = 0
    blurred: bool = False
    offline: bool = False
    item: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the server knows when a beat comes in, in milliseconds.

    `since` is when it last heard of the task by any window: all that a window never heard of before can have worked
    without a connection. `elapsed` is what the window's own clock says of the time since its last answered beat.
    """

    now: int
    since: int
    elapsed: int


def placed(
    window: str, sent: Iterable[Sent], known: Mapping[int, Stretch], heard: Heard
) -> list[tuple[Sent, Stretch]]:
    """Return each stretch of a beat as it is to be stored. `known` are the window's stored ones, by number.

    A stored stretch keeps its beginning, kind and tags; only its end moves. Sending a beat again changes nothing.
    """
    ordered = sorted({one.number: one for one in sent}.values(), key=lambda one: one.number)
    shift = _shift(ordered, known, heard.now)
    open_one = max(known.values(), key=lambda one: one.end, default=None)
    rows: list[tuple[Sent, Stretch]] = []
    regained: Stretch | None = None
    for one in ordered:
        start, end = (min(heard.now - before + shift, heard.now) for before in (one.before_start, one.before_end))
        row = known.get(one.number)
        if row is not None:
            moved = _moved(row, one, end, open_one)
            regained = moved if row is open_one else regained
            rows.append((one, moved))
            continue
        start = min(max(start, _floor(one, open_one, regained, heard)), heard.now)
        new = Stretch(window, one.number, one.kind, start, max(start, end), one.words, one.blurred, one.offline)
        rows.append((one, new))
    return rows


def _shift(ordered: Iterable[Sent], known: Mapping[int, Stretch], now: int) -> int:
    """Return by how much this beat travelled longer or shorter than earlier ones, told from a stored beginning.

    More than the slack is no travelling: then the machine slept and its clock stood still.
    """
    shifts = [known[one.number].start - (now - one.before_start) for one in ordered if one.number in known]
    return shifts[-1] if shifts and abs(shifts[-1]) <= SLACK else 0


def _moved(row: Stretch, one: Sent, end: int, open_one: Stretch | None) -> Stretch:
    """Return a stored stretch with its new end. One that ended before the last beat does not grow."""
    end = min(end, row.start + one.before_start - one.before_end)
    if open_one is not None and row.end < open_one.end:
        end = min(end, row.end)
    return replace(row, end=max(row.start, end))


def _floor(one: Sent, open_one: Stretch | None, regained: Stretch | None, heard: Heard) -> int:
    """Return the earliest moment at which a new stretch may begin.

    That is the window's last beat, less the slack; or where the open stretch now ends earlier than it did, for what
    is worth no more than it: 30 s without input turn the end of a reading into a gap.
    """
    if open_one is None:
        return min(heard.since, heard.now) - SLACK if one.offline else heard.now - SLACK
    floor = max(open_one.end, heard.now - heard.elapsed) - SLACK
    if regained is not None and _worth(one.kind) <= _worth(open_one.kind):
        return min(floor, regained.end)
    return floor


def _worth(kind: SegmentKind) -> int:
    return 2 if kind in ACTIVE else int(kind is SegmentKind.GAP)


def ended_gaps(rows: Iterable[tuple[Sent, Stretch]]) -> Iterator[Stretch]:
    """Yield the gaps of a beat that are over, which somebody can be asked about."""
    stretches = [row for _, row in rows]
    newest = max((row.number for row in stretches), default=0)
    return (row for row in stretches if row.kind is SegmentKind.GAP and row.number < newest and not row.gap_answer)
