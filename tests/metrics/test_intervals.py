"""Intervals of means and differences: t over topics, refused where it does not cover, and how often it covers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import t as student_t
from scipy.stats import ttest_rel

from reports.metrics.arrays import Floats
from reports.metrics.intervals import AMOUNTS, FRACTIONS, Interval, difference_intervals, mean_intervals

NAN = float("nan")
DRAWS = 400


def of(*scores: float, bounds: tuple[float, float] = FRACTIONS) -> Interval:
    [found] = mean_intervals(np.array([scores]).T, bounds)
    return found


def test_t16_intervals_of_few_topics() -> None:
    found = of(1, 0.5, 0.5, 0, 0.75)
    assert found.ends == pytest.approx((0.089579, 1), abs=5e-7)
    assert of(1, 0.5, 0.5, 0, 0.75, bounds=AMOUNTS).high == pytest.approx(1.010421, abs=5e-7)
    assert of(1, 0.5, 0.25, 0).document == {"low": None, "high": None, "reason": "too few topics"}
    assert of(0, 0, 0, 0, 0.5).document == {"low": None, "high": None, "reason": "too many equal scores"}


@pytest.mark.parametrize(("topics", "others", "shown"), [(5, 2, 0), (7, 3, 1), (8, 4, 0), (8, 5, 1), (60, 4, 0)])
def test_enough_scores_must_differ_from_the_commonest(topics: int, others: int, shown: bool) -> None:
    scores = [0.5] * (topics - others) + [0.1 * (place + 1) / topics for place in range(others)]
    assert (of(*scores).ends is not None) == bool(shown)


def test_topics_without_a_score_are_left_out() -> None:
    scores = [0.1, 0.3, 0.35, 0.8, 0.6, 0.9]
    assert of(*scores, NAN, NAN).ends == pytest.approx(of(*scores).ends)
    assert of(*scores[:4], NAN, NAN).reason == "too few topics"
    assert mean_intervals(np.zeros((0, 2))) == [Interval(reason="too few topics")] * 2


TABLES = arrays(np.float64, (9, 3), elements=st.floats(0, 1, width=16))


@settings(max_examples=30, deadline=None)
@given(TABLES)
def test_ends_are_scipy_s_cut_to_the_scale(values: Floats) -> None:
    for scores, found in zip(values.T, mean_intervals(values), strict=True):
        if found.ends is not None:
            reach = student_t.ppf(0.975, 8) * scores.std(ddof=1) / 3
            ends = (max(scores.mean() - reach, 0), min(scores.mean() + reach, 1))
            assert found.ends == pytest.approx(ends, abs=1e-9)


def test_differences_are_paired_over_the_topics_of_both_runs() -> None:
    values = np.random.default_rng(1).random((12, 3))
    values[:2, 0], values[11, 2] = NAN, NAN
    found = difference_intervals(values, FRACTIONS)
    both = ~np.isnan(values[:, 0]) & ~np.isnan(values[:, 2])
    expected = ttest_rel(values[both, 0], values[both, 2]).confidence_interval(0.95)
    assert found[0][2].ends == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found[2][0].ends == pytest.approx((-expected.high, -expected.low), abs=1e-9)


@pytest.mark.parametrize("topics", [5, 10])
def test_t_covers_where_percentiles_of_a_bootstrap_do_not(topics: int) -> None:
    """Vital scores of lists of four nuggets: of 95 intervals in 100 that should hold the mean, percentiles lose ten."""
    draw = np.random.default_rng(topics)
    population = draw.binomial(4, draw.beta(1.2, 1.2, 300)) / 4
    samples = draw.choice(population, (topics, DRAWS))
    known = [(found.ends, run) for run, found in enumerate(mean_intervals(samples)) if found.ends]
    covered = np.mean([ends[0] <= population.mean() <= ends[1] for ends, _ in known])
    means = samples[draw.integers(0, topics, (1000, topics))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    percentile = np.mean([low[run] <= population.mean() <= high[run] for _, run in known])
    assert covered >= 0.92
    assert percentile <= covered - 0.03
