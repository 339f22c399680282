"""When the work will be done, from times and pace alone."""

from datetime import UTC, date, datetime, timedelta

import pytest

from assessor.progress.today import FEWEST, OpenTask, forecast, pace_of, spread_of
from evaluation.stages import ASSIGN, MANUAL

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
KNOWN = {MANUAL: spread_of([1.0, 2.0, 3.0]), ASSIGN: spread_of([4.0] * FEWEST)}


def test_quartiles_are_those_of_numpy() -> None:
    found = spread_of([1.0, 2.0, 4.0, 8.0])
    assert found is not None
    assert (found.low, found.median, found.high, found.number) == (1.75, 3.0, 5.0, 4)


@pytest.mark.parametrize(("hours", "number"), [([], None), ([3.0], 1)])
def test_little_has_little_of_a_spread(hours: list[float], number: int | None) -> None:
    found = spread_of(hours)
    assert (found and found.number) == number


def test_stages_are_added_up() -> None:
    found = forecast([OpenTask(MANUAL), OpenTask(ASSIGN)], KNOWN, 2.0, NOW)
    assert (found.first, found.last) == (date(2026, 11, 23), date(2026, 11, 23))


def test_what_is_spent_is_taken_off_and_never_below_nothing() -> None:
    tasks = [OpenTask(MANUAL, 1.5), OpenTask(MANUAL, 9.0)]
    found = forecast(tasks, KNOWN, 0.1, NOW)
    assert (found.first, found.last) == (date(2026, 11, 20), date(2026, 11, 30))


@pytest.mark.parametrize("number", range(1, FEWEST))
def test_few_times_of_a_stage_foretell_nothing(number: int) -> None:
    found = forecast([OpenTask(MANUAL)], {MANUAL: spread_of([1.0] * number)}, 1.0, NOW)
    assert (found.unknown, found.first) == ((MANUAL,), None)


def test_without_a_pace_or_within_no_lifetime_there_is_no_date() -> None:
    assert forecast([OpenTask(MANUAL)], KNOWN, 0.0, NOW).first is None
    assert forecast([OpenTask(MANUAL)] * 1000, KNOWN, 0.01, NOW).first is None


def test_a_pace_is_by_the_day_and_of_one_day_at_least() -> None:
    assert pace_of(12.0, NOW - timedelta(days=4), NOW) == 3.0
    assert pace_of(2.0, NOW - timedelta(hours=3), NOW) == 2.0
