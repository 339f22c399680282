"""What holds for any stretches and any beats, made up by Hypothesis."""

from hypothesis import given
from hypothesis import strategies as st

from assessor.rules.clock import (
    ACTIVE,
    PRESENT,
    SLACK,
    BeatArrival,
    SentStretch,
    Stretch,
    fixed_limit,
    limit_of,
    measure,
    placed,
    quiets_of,
    timeline,
)
from evaluation.stages import MANUAL, STAGES
from evaluation.terms import SegmentKind

HOURS = 3 * 60 * 60 * 1000
MOMENTS = st.integers(0, HOURS)
KINDS = st.sampled_from(list(SegmentKind))
LIMITS = st.one_of(st.integers(30, 3600).map(fixed_limit), st.sampled_from([*STAGES.values()]).map(limit_of))


@st.composite
def stretches(draw: st.DrawFn) -> Stretch:
    start, end = sorted((draw(MOMENTS), draw(MOMENTS)))
    return Stretch(
        window=draw(st.sampled_from(["left", "right", "phone"])),
        number=draw(st.integers(0, 99)),
        kind=draw(KINDS),
        start=start,
        end=end,
        words=draw(st.integers(0, 2000)),
        blurred=draw(st.booleans()),
        offline=draw(st.booleans()),
        gap_answer=draw(st.sampled_from(["", "", "reading", "away"])),
    )


DAYS = st.lists(stretches(), max_size=25)


def union(stretches: list[Stretch], *kinds: SegmentKind) -> int:
    """Count the milliseconds covered, in another way than the rule does."""
    total, reached = 0, -1
    for stretch in sorted(
        (candidate for candidate in stretches if candidate.kind in kinds), key=lambda candidate: candidate.start
    ):
        total += max(0, stretch.end - max(stretch.start, reached))
        reached = max(reached, stretch.end)
    return total


@given(DAYS, LIMITS)
def test_no_figure_is_negative_and_low_point_high_are_in_order(day, limit) -> None:  # type: ignore[no-untyped-def]
    found = measure(day, limit)
    figures = (found.wall, found.reading, found.editing, found.hidden, found.paused, found.offline, found.blurred)
    assert min(figures) >= 0
    assert 0 <= found.active.low <= found.active.point <= found.active.high <= found.presence <= found.wall


@given(DAYS, LIMITS)
def test_no_moment_counts_twice(day, limit) -> None:  # type: ignore[no-untyped-def]
    found = measure(day, limit)
    assert found.active.high == union(day, *PRESENT)
    assert found.presence == union(day, *PRESENT, SegmentKind.PAUSED)
    assert found.active.point >= union(day, *ACTIVE) - sum(
        quiet.length for quiet in quiets_of(timeline(day)) if quiet.gap_answer == "away"
    )
    assert found.reading + found.editing == found.active.point
    parts = (found.presence, found.hidden, found.suspended)
    assert sum(parts) == union(day, *SegmentKind)


@given(DAYS, LIMITS, st.randoms())
def test_the_order_of_the_rows_does_not_matter(day, limit, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(day)
    random.shuffle(shuffled)
    same_place = {(stretch.window, stretch.number, stretch.start) for stretch in day}
    if len(same_place) == len(day):
        assert measure(shuffled, limit) == measure(day, limit)


@given(DAYS, st.integers(30, 3600), st.integers(0, 3600))
def test_a_longer_limit_never_takes_time_away(day, limit, more) -> None:  # type: ignore[no-untyped-def]
    shorter, longer = measure(day, fixed_limit(limit)).active, measure(day, fixed_limit(limit + more)).active
    assert shorter.low <= longer.low
    assert shorter.point <= longer.point
    assert shorter.high == longer.high


@given(DAYS)
def test_the_published_limits_are_the_rule_at_those_limits(day) -> None:  # type: ignore[no-untyped-def]
    found = measure(day, limit_of(MANUAL))
    assert found.at == {seconds: measure(day, fixed_limit(seconds)).active.point for seconds in found.at}


@st.composite
def sent(draw: st.DrawFn) -> SentStretch:
    end, start = sorted((draw(MOMENTS), draw(MOMENTS)))
    return SentStretch(
        number=draw(st.integers(0, 6)),
        kind=draw(KINDS),
        ms_before_now_start=start,
        ms_before_now_end=end,
        offline=draw(st.booleans()),
    )


BEATS = st.lists(st.tuples(st.integers(0, 40_000), st.lists(sent(), max_size=6)), min_size=1, max_size=12)


@given(BEATS, st.integers(0, HOURS))
def test_no_window_is_believed_more_than_the_server_saw_pass(beats, elapsed) -> None:  # type: ignore[no-untyped-def]
    """Whatever a window sends, each beat adds at most the time since its last one and the slack."""
    opened = now = 1_000_000
    known: dict[int, Stretch] = {}
    heard_at = opened
    for later, segments in beats:
        now += later
        unique = {segment.number: segment for segment in segments}.values()
        before = union(list(known.values()), *PRESENT)
        for row in placed("w", unique, known, BeatArrival(now, opened, elapsed)):
            assert row.start <= row.end <= now
            known[row.number] = row
        if not known:
            continue
        assert union(list(known.values()), *PRESENT) - before <= now - heard_at + SLACK
        heard_at = max(stretch.end for stretch in known.values())


SPANS = st.lists(st.tuples(KINDS, st.integers(0, 40_000)), min_size=1, max_size=8)


def contiguous(spans: list[tuple[SegmentKind, int]], number: int) -> list[SentStretch]:
    """Stretches one after the other, the last until now, as an honest window sends them."""
    lengths = [length for _, length in spans]
    return [
        SentStretch(
            number=number + index,
            kind=kind,
            ms_before_now_start=sum(lengths[index:]),
            ms_before_now_end=sum(lengths[index + 1 :]),
        )
        for index, (kind, _) in enumerate(spans)
    ]


@given(SPANS, SPANS, st.integers(0, 20_000))
def test_a_beat_sent_again_changes_nothing_however_late_it_comes(first, second, late) -> None:  # type: ignore[no-untyped-def]
    now, known = 1_000_000, dict[int, Stretch]()
    for number, spans in ((0, first), (len(first), second)):
        now += sum(length for _, length in spans)
        known |= {
            row.number: row for row in placed("w", contiguous(spans, number), known, BeatArrival(now, 0, HOURS))
        }
    repeated = placed("w", contiguous(second, len(first)), known, BeatArrival(now + late, 0, HOURS))
    assert {row.number: row for row in repeated}.items() <= known.items()


@given(st.lists(SPANS, min_size=1, max_size=6))
def test_an_honest_window_is_believed_to_the_millisecond(beats) -> None:  # type: ignore[no-untyped-def]
    """The last stretch of each beat is still open, and the next beat says how it ended."""
    now, number, known = 1_000_000, 0, dict[int, Stretch]()
    known |= {0: Stretch("w", 0, SegmentKind.READING, now, now)}
    spans: list[tuple[SegmentKind, int]] = [(SegmentKind.READING, 0)]
    total: dict[SegmentKind, int] = dict.fromkeys(SegmentKind, 0)
    for beat in beats:
        spans = [spans[-1], *beat]
        now += sum(length for _, length in beat)
        for kind, length in beat:
            total[kind] += length
        rows = placed("w", contiguous(spans, number), known, BeatArrival(now, 0, HOURS))
        known |= {row.number: row for row in rows}
        number += len(beat)
    assert {kind: union(list(known.values()), kind) for kind in SegmentKind} == total
