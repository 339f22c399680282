"""Bootstrap intervals: exact against resampling by hand, seeded, and None where nothing is defined."""

from time import perf_counter

import numpy as np
import pytest

from reports.metrics import bootstrap
from reports.metrics.agreement import LEVELS, ScoreTable, agreement, pair
from reports.metrics.arrays import Booleans, Counts, Floats
from reports.metrics.bootstrap import Interval, intervals
from reports.metrics.kendall import kendall

from .sheet_makers import table


def random_table(seed: int, topics: int, runs: int, gaps: float = 0.0) -> ScoreTable:
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((topics, runs)) < gaps, np.nan, rng.integers(0, 8, (topics, runs)) / 7)
    names = tuple(map(str, range(runs))), tuple(map(str, range(topics)))
    return ScoreTable(*names, values, np.ones(topics, dtype=np.bool_))


def by_hand(level: str, x: Floats, y: Floats) -> float | None:
    """Tau of a resample whose topics stand in it as often as they were drawn."""
    names = "".join(chr(200 + i) for i in range(len(x)))
    return getattr(agreement(table(x.tolist(), names), table(y.tolist(), names)), level)  # type: ignore[no-any-return]


@pytest.mark.parametrize("level", LEVELS)
def test_each_resample_is_the_tau_of_its_topics(level: str) -> None:
    both = pair(random_table(1, 9, 6, gaps=0.1), random_table(2, 9, 6, gaps=0.1))
    draws: Counts = np.random.default_rng(3).multinomial(9, np.full(9, 1 / 9), size=25)
    functions = (bootstrap.run_level_taus, bootstrap._topic_average, bootstrap._pooled)
    rows: Booleans = np.ones(9, dtype=np.bool_)
    found = functions[LEVELS.index(level)](both, "all", rows, draws)
    for tau, drawn in zip(found, draws, strict=True):
        again = np.repeat(np.arange(9), drawn)
        assert tau == pytest.approx(by_hand(level, both.x[again], both.y[again]))


def test_equal_seeds_give_equal_intervals_around_the_tau() -> None:
    x, y = random_table(1, 12, 5), random_table(1, 12, 5)
    y.values[::3] = random_table(5, 12, 5).values[::3]
    first, other = intervals(x, y, seed=7, resamples=200), intervals(x, y, seed=8, resamples=200)
    assert first == intervals(x, y, seed=7, resamples=200) != other
    tau, found = agreement(x, y).all_topic_run, first["all_topic_run"]
    assert tau is not None
    assert found is not None
    assert -1 <= found.low <= tau <= found.high <= 1


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    x, y = random_table(1, 12, 5), random_table(2, 12, 5)
    narrow, wide = intervals(x, y, confidence=0.5)["topic_average"], intervals(x, y)["topic_average"]
    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low < narrow.high < wide.high


def test_identical_tables_agree_in_every_resample() -> None:
    x = random_table(4, 8, 5)
    found = intervals(x, x, resamples=50)
    assert found["all_topic_run"] == Interval(1, 1, 50)


def test_constant_scores_or_a_single_topic_have_no_interval() -> None:
    constant = table([[1, 1], [1, 1]])
    assert intervals(constant, constant) == dict.fromkeys(LEVELS)
    single = table([[0, 1]])
    assert intervals(single, single) == dict.fromkeys(LEVELS)


def test_no_common_topic_leaves_the_run_level_alone() -> None:
    x, y = table([[0, 1], [0, 1]], topics="ab"), table([[0, 1], [1, 0]], topics="cd")
    found = intervals(x, y, resamples=100)
    assert found["topic_average"] is found["all_topic_run"] is None
    assert found["run_level"] is not None


def test_a_common_topic_without_a_common_pair_is_no_error() -> None:
    nan = float("nan")
    found = intervals(table([[0, nan], [1, nan]]), table([[nan, 1], [nan, 0]]), resamples=10)
    assert found == dict.fromkeys(LEVELS)


@pytest.mark.parametrize(("confidence", "resamples"), [(0, 10), (1, 10), (0.9, 0)])
def test_senseless_settings_are_refused(confidence: float, resamples: int) -> None:
    with pytest.raises(ValueError, match="confidence"):
        intervals(table([[1]]), table([[1]]), confidence=confidence, resamples=resamples)


def test_a_whole_track_is_resampled_in_seconds() -> None:
    x, y = random_table(1, 301, 146), random_table(2, 301, 146)
    start = perf_counter()
    found = intervals(x, y)
    assert perf_counter() - start < 10
    pooled, exact = found["all_topic_run"], kendall(x.values.ravel(), y.values.ravel()).tau
    assert pooled is not None
    assert exact is not None
    assert pooled.low < exact < pooled.high
