"""Tests between runs: against scipy's permutation test, and what must hold of any scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from reports.metrics.arrays import Floats
from reports.metrics.significance import (
    MOST_RUNS,
    best_first,
    holm,
    paired_tests,
    significance_groups,
    smallest_p,
)

NAN = float("nan")
TABLES = arrays(
    np.float64,
    st.tuples(st.integers(1, 9), st.integers(2, 4)),
    elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, NAN]),
)


def by_scipy(x: Floats, y: Floats) -> float:
    """Return the exact p of a sign test by permutation, over the topics that both have."""
    both = ~np.isnan(x) & ~np.isnan(y)
    found = stats.permutation_test(  # type: ignore[call-overload]
        (x[both] - y[both],),
        lambda d, axis: np.abs(np.round(d.sum(axis=axis), 10)),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
    )
    return float(found.pvalue)


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_few_topics_are_tested_exactly_as_scipy_does(values: Floats) -> None:
    found = paired_tests(values)
    assert found.exact
    for x in range(values.shape[1]):
        for y in range(values.shape[1]):
            shared = int((~np.isnan(values[:, x]) & ~np.isnan(values[:, y])).sum())
            if x == y or not shared:
                assert np.isnan(found.p[x, y])
            elif shared > 1:
                assert found.p[x, y] == pytest.approx(by_scipy(values[:, x], values[:, y]))
                assert found.topics[x, y] == shared


def test_many_topics_are_tested_by_drawing() -> None:
    random = np.random.default_rng(3)
    base = random.random((60, 1))
    values = np.hstack([base, base + random.normal(0, 0.2, (60, 1)), base + 0.3])
    found = paired_tests(values, resamples=4000)
    exact = stats.permutation_test(
        (values[:, 0] - values[:, 1],), np.mean, permutation_type="samples", n_resamples=20_000, rng=1
    )
    assert not found.exact
    assert found.p[0, 1] == pytest.approx(exact.pvalue, abs=0.03)
    assert found.p[0, 2] == pytest.approx(1 / 4001)
    assert found.difference[2, 0] == pytest.approx(0.3)
    assert_array_equal(found.p, paired_tests(values, resamples=4000).p)


def test_a_run_that_shares_no_topic_with_another_is_not_compared() -> None:
    found = paired_tests(np.array([[0.5, NAN, 0.1], [NAN, 0.5, 0.2]]))
    assert np.isnan(found.p[0, 1])
    assert found.topics[0, 1] == 0
    assert not np.isnan(found.adjusted[0, 2])


def test_holm_is_as_in_r() -> None:
    assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.02])), [0.04, 0.06, 0.06, 0.06])
    assert_allclose(holm(np.array([0.5, NAN, 0.001])), [0.5, NAN, 0.002])


def test_too_many_runs_are_refused_and_the_best_are_chosen() -> None:
    values = np.tile(np.linspace(0, 1, MOST_RUNS + 1), (2, 1))
    with pytest.raises(ValueError, match="at most 50"):
        paired_tests(values)
    chosen = best_first(values)
    assert len(chosen) == MOST_RUNS
    assert (chosen[0], chosen[-1]) == (MOST_RUNS, 1)


def test_the_smallest_p_of_few_topics_is_known_beforehand() -> None:
    """Check 79: seven topics and six runs."""
    assert_allclose(smallest_p(7, 15), 0.234375)
    values = np.arange(6) * 1.0 + np.zeros((7, 1))
    assert_allclose(np.nanmin(paired_tests(values).adjusted), smallest_p(7, 15))
    assert smallest_p(2, 15) == 1.0


@given(arrays(np.float64, (20, 6), elements=st.floats(0, 1, width=16)))
@settings(max_examples=20, deadline=None)
def test_groups_of_runs_are_those_of_the_p_table(values: Floats) -> None:
    """Check 79: two of twenty topics' runs share a group just where their p is not below 0.05."""
    adjusted = paired_tests(values + 0.3 * np.arange(6)).adjusted
    groups = significance_groups(adjusted, 0.05)
    for first, second in zip(*np.triu_indices(6, k=1), strict=True):
        together = any({first, second} <= group for group in groups)
        assert together is not bool(adjusted[first, second] < 0.05)
