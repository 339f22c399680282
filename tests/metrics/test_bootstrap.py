"""Intervals of tau: exact against resampling by hand, seeded, and refused with a reason."""

import numpy as np
import pytest

from reports.metrics import bootstrap
from reports.metrics.agreement import LEVELS, ScoreTable, agreement, pair
from reports.metrics.arrays import Booleans, Counts, Floats
from reports.metrics.bootstrap import intervals
from reports.metrics.intervals import Interval, student
from reports.metrics.kendall import kendall
from tests.speed import at_most

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


@pytest.mark.parametrize("level", ["run_level", "all_topic_run"])
def test_each_resample_is_the_tau_of_its_topics(level: str) -> None:
    both = pair(random_table(1, 9, 6, gaps=0.1), random_table(2, 9, 6, gaps=0.1))
    draws: Counts = np.random.default_rng(3).multinomial(9, np.full(9, 1 / 9), size=25)
    taus_of = {"run_level": bootstrap.run_level_taus, "all_topic_run": bootstrap._pooled}[level]
    rows: Booleans = np.ones(9, dtype=np.bool_)
    found = taus_of(both, "all", rows, draws)
    for tau, drawn in zip(found, draws, strict=True):
        topics = np.repeat(np.arange(9), drawn)
        assert tau == pytest.approx(by_hand(level, both.x[topics], both.y[topics]))


def test_equal_seeds_give_equal_intervals_around_the_tau() -> None:
    x, y = random_table(1, 12, 5), random_table(1, 12, 5)
    y.values[::3] = random_table(5, 12, 5).values[::3]
    first, other = intervals(x, y, seed=7, resamples=200), intervals(x, y, seed=8, resamples=200)
    assert first == intervals(x, y, seed=7, resamples=200) != other
    tau, ends = agreement(x, y).all_topic_run, first["all_topic_run"].ends
    assert tau is not None
    assert ends is not None
    assert -1 <= ends[0] <= tau <= ends[1] <= 1


def test_few_topics_are_read_further_out_than_plain_percentiles() -> None:
    """Hesterberg 2015: of 10 topics the percentiles are .8551 and 99.1449; tau is in the middle."""
    x, y = random_table(1, 10, 6), random_table(2, 10, 6)
    rows: Booleans = np.ones(10, dtype=np.bool_)
    draws = np.random.default_rng(0).multinomial(10, np.full(10, 1 / 10), size=500)
    taus = bootstrap.run_level_taus(pair(x, y), "all", rows, draws)
    found = intervals(x, y, resamples=500, levels=["run_level"])["run_level"]
    low, high = np.quantile(taus, [0.008550639, 1 - 0.008550639])
    tau = agreement(x, y).run_level or 0
    assert found.ends == pytest.approx((tau - (high - low) / 2, min(tau + (high - low) / 2, 1)))
    assert found.resamples == 500


def test_the_mean_of_the_topics_taus_has_t_on_z() -> None:
    x, y = random_table(1, 12, 5), random_table(2, 12, 5)
    taus = np.array([kendall(*sides).tau for sides in zip(x.values, y.values, strict=True)], dtype=np.float64)
    mean, reach = taus.mean(), student(11) * taus.std(ddof=1) / np.sqrt(12)
    z, error = np.arctanh(mean), reach / (1 - mean**2)
    found = intervals(x, y)["topic_average"]
    assert found.ends == pytest.approx((np.tanh(z - error), np.tanh(z + error)))
    assert found.resamples is None


def test_identical_tables_agree_in_every_resample() -> None:
    x = random_table(4, 8, 5)
    found = intervals(x, x, resamples=50)
    assert (found["all_topic_run"].ends, found["all_topic_run"].resamples) == ((1, 1), 50)
    assert found["topic_average"].reason == "too many equal scores"


def test_too_little_is_refused_with_a_reason() -> None:
    constant = table([[1] * 5] * 6, topics="abcdef")
    reasons = {level: found.reason for level, found in intervals(constant, constant).items()}
    undefined = "undefined: all scores equal"
    assert reasons == dict(zip(LEVELS, (undefined, "too few topics", undefined), strict=True))
    four = random_table(1, 4, 5)
    assert {found.reason for found in intervals(four, four).values()} == {"too few topics"}
    few_runs = intervals(random_table(1, 6, 4), random_table(2, 6, 4), resamples=20)
    assert few_runs["run_level"] == Interval(reason="too few runs")
    assert few_runs["all_topic_run"].ends is not None


def test_a_tau_that_one_topic_makes_has_no_interval() -> None:
    x = table([[1, 1, 1, 1, 1]] * 5 + [[0, 1, 0, 1, 0]], topics="abcdef")
    found = intervals(x, x, resamples=50)
    assert found["run_level"].reason == "undefined without one of the topics"


def test_no_common_topic_leaves_the_run_level_alone() -> None:
    x, y = random_table(1, 5, 5), random_table(2, 5, 5)
    apart = ScoreTable(y.run_ids, tuple("vwxyz"), y.values, y.topics)
    found = intervals(x, apart, resamples=100)
    assert found["topic_average"].ends is found["all_topic_run"].ends is None
    assert found["run_level"].ends is not None


def test_common_topics_without_a_common_pair_are_no_error() -> None:
    nan = float("nan")
    x, y = table([[0, nan], [1, nan]] * 3, topics="abcdef"), table([[nan, 1], [nan, 0]] * 3, topics="abcdef")
    assert not any(found.ends for found in intervals(x, y, resamples=10).values())


def test_no_resamples_are_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        intervals(table([[1]]), table([[1]]), resamples=0)


def test_a_whole_track_is_resampled_in_seconds() -> None:
    x, y = random_table(1, 301, 146), random_table(2, 301, 146)
    with at_most(10):
        found = intervals(x, y)
    pooled, exact = found["all_topic_run"].ends, kendall(x.values.ravel(), y.values.ravel()).tau
    assert pooled is not None
    assert exact is not None
    assert pooled[0] < exact < pooled[1]
