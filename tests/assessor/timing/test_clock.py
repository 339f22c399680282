"""What counts as work: the idle limit, the gaps beyond it, several windows at once."""

import pytest

from assessor.rules.clock import (
    JUDGING_SCREENS,
    NUGGET_SCREENS,
    SECOND,
    Active,
    Stretch,
    Times,
    fixed_limit,
    limit_by_words,
    limit_of,
    measure,
)
from evaluation.errors import Refused
from evaluation.stages import MANUAL, STAGES, Stage
from evaluation.terms import SegmentKind

MINUTE = 60 * SECOND
EDIT, READ, GAP = SegmentKind.EDITING, SegmentKind.READING, SegmentKind.GAP
HIDDEN, PAUSED = SegmentKind.HIDDEN, SegmentKind.PAUSED


class Day:
    def __init__(self, window: str = "w", start: float = 0) -> None:
        self.window, self.at = window, round(start * MINUTE)
        self.stretches: list[Stretch] = []

    def then(self, kind: SegmentKind, minutes: float, **tags: object) -> "Day":
        end = self.at + round(minutes * MINUTE)
        number = len(self.stretches)
        self.stretches.append(Stretch(self.window, number, kind, self.at, end, **tags))  # type: ignore[arg-type]
        self.at = end
        return self


def times(*days: Day, limit: int = 180) -> Times:
    return measure([stretch for day in days for stretch in day.stretches], fixed_limit(limit))


def minutes(active: Active) -> tuple[float, float, float]:
    return active.low / MINUTE, active.point / MINUTE, active.high / MINUTE


@pytest.mark.parametrize(("words", "nuggets", "judging"), [(0, 180, 120), (250, 180, 150), (500, 300, 300)])
@pytest.mark.parametrize("more", [0, 5000])
def test_the_idle_limit_is_the_time_a_slow_reader_needs(words: int, nuggets: int, judging: int, more: int) -> None:
    wanted = (nuggets, judging) if not more else (600, 300)
    found = [limit_by_words(bounds)(words + more) // SECOND for bounds in (NUGGET_SCREENS, JUDGING_SCREENS)]
    assert tuple(found) == wanted


@pytest.mark.parametrize("stage", STAGES.values())
def test_every_stage_has_a_limit(stage: Stage) -> None:
    assert limit_of(stage)(400) == 240 * SECOND


def test_a_limit_shorter_than_the_cuts_is_refused() -> None:
    with pytest.raises(Refused, match="at least 30 s"):
        fixed_limit(29)


def test_a_gap_within_the_limit_counts_in_full() -> None:
    assert minutes(times(Day().then(READ, 1).then(GAP, 3).then(READ, 1)).active) == (5, 5, 5)


def test_a_gap_beyond_the_limit_is_nothing_the_limit_or_all_of_it() -> None:
    assert minutes(times(Day().then(READ, 1).then(GAP, 30).then(READ, 1)).active) == (2, 5, 32)


@pytest.mark.parametrize(("gap_answer", "wanted"), [("reading", (2, 32, 32)), ("away", (2, 2, 32))])
def test_what_the_assessor_says_of_a_gap_sets_the_point_alone(gap_answer: str, wanted: tuple[float, ...]) -> None:
    day = Day().then(READ, 1).then(GAP, 30, gap_answer=gap_answer).then(READ, 1)
    assert minutes(times(day).active) == wanted
    assert minutes(times(day, limit=60).active) == wanted


def test_a_gap_said_to_be_an_absence_is_one_under_a_longer_limit_too() -> None:
    assert minutes(times(Day().then(GAP, 4, gap_answer="away"), limit=600).active) == (0, 0, 4)


def test_a_gap_cut_in_two_by_a_tag_is_one_gap() -> None:
    day = Day().then(READ, 1).then(GAP, 2).then(GAP, 2, blurred=True, gap_answer="reading")
    assert minutes(times(day).active) == (1, 5, 5)
    assert times(day).blurred == 2 * MINUTE


def test_hidden_and_paused_time_is_no_work_and_parts_gaps() -> None:
    day = Day().then(READ, 1).then(GAP, 2).then(HIDDEN, 10).then(GAP, 2).then(PAUSED, 5)
    found = times(day)
    assert minutes(found.active) == (5, 5, 5)
    assert (found.hidden, found.paused, found.presence, found.wall) == tuple(
        minutes * MINUTE for minutes in (10, 5, 10, 20)
    )


def test_two_windows_and_a_phone_count_once() -> None:
    both = [Day(name).then(READ, 10) for name in ("laptop", "tab", "phone")]
    assert minutes(times(*both).active) == (10, 10, 10)


def test_input_at_one_window_ends_the_gap_of_another() -> None:
    left = Day("left").then(GAP, 30)
    right = Day("right", start=2).then(EDIT, 26)
    assert minutes(times(left, right).active) == (30, 30, 30)
    assert times(left, right).sessions == 1


def test_gaps_of_two_windows_are_one_gap() -> None:
    left, right = Day("left").then(GAP, 4), Day("right", start=2).then(GAP, 4)
    assert minutes(times(left, right, limit=300).active) == (0, 5, 6)


def test_a_visible_window_beats_a_hidden_one() -> None:
    found = times(Day("a").then(HIDDEN, 10), Day("b", start=5).then(READ, 10))
    assert (found.hidden, found.reading) == (5 * MINUTE, 10 * MINUTE)


def test_a_quiet_time_belongs_to_what_went_before() -> None:
    day = Day().then(READ, 1).then(GAP, 2).then(EDIT, 3).then(GAP, 1).then(PAUSED, 9)
    found = times(day)
    assert (found.reading, found.editing) == (3 * MINUTE, 4 * MINUTE)


def test_blur_and_lost_connections_are_counted_and_tagged() -> None:
    found = times(Day().then(READ, 1, blurred=True).then(EDIT, 2, offline=True).then(HIDDEN, 3, offline=True))
    assert (found.blurred, found.offline) == (MINUTE, 2 * MINUTE)
    assert minutes(found.active) == (3, 3, 3)


def test_sitting_down_anew_after_half_an_hour_is_a_new_session() -> None:
    day = Day().then(READ, 5).then(HIDDEN, 29).then(READ, 5).then(GAP, 30).then(EDIT, 5)
    assert times(day).sessions == 2


def test_the_limit_follows_from_the_words_on_the_screen_at_each_gap() -> None:
    day = Day().then(GAP, 5, words=500).then(READ, 1).then(GAP, 5, words=20)
    found = measure(day.stretches, limit_of(MANUAL))
    assert minutes(found.active) == (6, 9, 11)


def test_published_limits() -> None:
    day = Day().then(READ, 1).then(GAP, 2.5).then(READ, 1).then(GAP, 10)
    assert times(day).at == {60: 4 * MINUTE, 120: 6 * MINUTE, 180: 7.5 * MINUTE, 300: 9.5 * MINUTE}


def test_nothing_is_nothing() -> None:
    found = times(Day())
    assert (found.wall, found.active, found.sessions) == (0, Active(), 0)
