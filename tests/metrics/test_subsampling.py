"""Tau over fewer topics: each subset's tau is that of its topics, and the last point is the whole."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from reports.metrics.agreement import ScoreTable, agreement
from reports.metrics.bootstrap import STEPS, curve_sizes, subsets, tau_by_topics


def random_table(seed: int, topics: int, runs: int, gaps: float) -> ScoreTable:
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((topics, runs)) < gaps, np.nan, rng.integers(0, 4, (topics, runs)) / 3)
    names = tuple(map(str, range(runs))), tuple(map(str, range(topics)))
    return ScoreTable(*names, values, np.ones(topics, dtype=np.bool_))


def theirs(x: ScoreTable, y: ScoreTable, size: int, samples: int, seed: int) -> list[float]:
    found = []
    for drawn in subsets(len(x.values), size, samples, seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy and SciPy warn where a mean or tau is undefined
            means = [np.nanmean(table.values[drawn == 1], axis=0).round(10) for table in (x, y)]
            known = ~np.isnan(means[0]) & ~np.isnan(means[1])
            tau = kendalltau(means[0][known], means[1][known]).statistic if known.sum() > 1 else np.nan
        found.append(float(tau))
    return [tau for tau in found if not np.isnan(tau)]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 9), st.integers(2, 7), st.sampled_from([0.0, 0.2]))
def test_each_point_is_what_scipy_says_of_its_subsets(seed: int, topics: int, runs: int, gaps: float) -> None:
    x, y = random_table(seed, topics, runs, gaps), random_table(seed + 1, topics, runs, gaps)
    points = {point.topics: point for point in tau_by_topics(x, y, samples=6, seed=seed)}
    for size in range(2, topics + 1):
        taus = theirs(x, y, size, 1 if size == topics else 6, seed)
        if not taus:
            assert size not in points
            continue
        assert points[size].samples == len(taus)
        assert points[size].mean == pytest.approx(np.mean(taus))
        assert points[size].low == pytest.approx(np.quantile(taus, 0.025))


def test_the_last_point_is_the_tau_of_all_topics() -> None:
    x, y = random_table(1, 60, 12, 0.1), random_table(2, 60, 12, 0.1)
    last = tau_by_topics(x, y)[-1]
    assert (last.topics, last.samples) == (60, 1)
    assert last.mean == last.low == last.high == pytest.approx(agreement(x, y).run_level)
    assert tau_by_topics(x, y) == tau_by_topics(x, y)


def test_subsets_hold_as_many_topics_as_they_say() -> None:
    assert (subsets(9, 4, 50, 0).sum(axis=1) == 4).all()
    assert len({tuple(row) for row in subsets(9, 4, 50, 0).tolist()}) > 20


@pytest.mark.parametrize(("every", "sizes"), [(0, []), (1, []), (2, [2]), (4, [2, 3, 4])])
def test_few_topics_have_few_points(every: int, sizes: list[int]) -> None:
    assert curve_sizes(every) == sizes


def test_many_topics_have_twenty_points() -> None:
    sizes = curve_sizes(301)
    assert (len(sizes), sizes[0], sizes[-1]) == (STEPS, 2, 301)
    with pytest.raises(ValueError, match="positive"):
        tau_by_topics(random_table(1, 3, 3, 0), random_table(2, 3, 3, 0), samples=0)
