"""Kendall's tau-b against scipy, and its counts against a count by hand."""

from itertools import combinations
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau

from reports.metrics.arrays import Floats
from reports.metrics.kendall import Kendall, Ties, kendall, kendall_rows
from tests.speed import at_most

TIED = hnp.arrays(np.float64, st.tuples(st.just(2), st.integers(2, 40)), elements=st.integers(0, 5).map(float))
LOOSE = hnp.arrays(np.float64, st.tuples(st.just(2), st.integers(2, 40)), elements=st.floats(0, 1, width=16))


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def counted(x: Floats, y: Floats) -> tuple[int, int, Ties]:
    """Concordant, discordant and tied pairs, one by one."""
    pairs = [(x[i] - x[j], y[i] - y[j]) for i, j in combinations(range(len(x)), 2)]
    ties = Ties(
        sum(dx == 0 != dy for dx, dy in pairs),
        sum(dx != 0 == dy for dx, dy in pairs),
        sum(dx == dy == 0 for dx, dy in pairs),
    )
    return sum(dx * dy > 0 for dx, dy in pairs), sum(dx * dy < 0 for dx, dy in pairs), ties


def test_tau_and_its_counts_by_hand() -> None:
    found = kendall(floats(1, 2, 2, 3), floats(1, 3, 2, 2))
    assert found == Kendall(2 / 5, 4, Ties(1, 1, 0), 3, 1)


def test_equal_means_are_ties_although_their_floats_differ() -> None:
    assert kendall(floats(0.1 + 0.2, 0.3), floats(1, 2)).ties == Ties(x=1)


@pytest.mark.parametrize(("x", "y"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2], [5, 5])])
def test_tau_is_undefined_for_a_constant_side_or_fewer_than_two(x: list[float], y: list[float]) -> None:
    assert kendall(floats(*x), floats(*y)).tau is None


def test_unequal_lengths_and_undefined_values_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        kendall(floats(1), floats(1, 2))
    with pytest.raises(ValueError, match="numbers"):
        kendall(floats(1, np.nan), floats(1, 2))
    with pytest.raises(ValueError, match="one shape"):
        kendall_rows(np.zeros((1, 2)), np.zeros((2, 1)))


@given(TIED | LOOSE)
def test_tau_is_scipys_and_its_counts_are_exact(xy: Floats) -> None:
    x, y = np.round(xy, 10)
    found = kendall(x, y)
    assert (found.concordant, found.discordant, found.ties) == counted(x, y)
    if found.tau is not None:
        assert found.tau == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
    else:
        assert len(set(x)) == 1 or len(set(y)) == 1


@given(TIED, st.integers(0, 100))
def test_tau_is_symmetric_and_does_not_depend_on_the_order_of_rows(xy: Floats, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(xy.shape[1])
    found = kendall(*xy)
    assert kendall(*xy[:, order]) == found
    assert kendall(xy[1], xy[0]).tau == found.tau
    assert kendall(xy[0], -xy[1]).discordant == found.concordant


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.just(2), st.integers(1, 4), st.integers(1, 8)),
        elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan]),
    )
)
def test_many_rows_at_once_are_each_row_alone(xy: Floats) -> None:
    rows = kendall_rows(*xy)
    for k, (x, y) in enumerate(zip(*xy, strict=True)):
        known = ~np.isnan(x) & ~np.isnan(y)
        row = kendall(x[known], y[known])
        assert (rows.n[k], rows.concordant[k], rows.discordant[k]) == (row.n, row.concordant, row.discordant)
        assert (rows.tied_x[k], rows.tied_y[k], rows.tied_both[k]) == (row.ties.x, row.ties.y, row.ties.both)
        assert isnan(rows.tau[k]) if row.tau is None else rows.tau[k] == pytest.approx(row.tau)


def test_no_rows_are_no_error() -> None:
    assert kendall_rows(np.zeros((0, 3)), np.zeros((0, 3))).ties == Ties()


def test_44_thousand_pairs_take_no_quadratic_time() -> None:
    x, y = np.random.default_rng(1).random((2, 44_000))
    with at_most(1):
        found = kendall(x, y)
    assert found.tau == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
