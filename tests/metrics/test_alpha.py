"""Krippendorff's alpha against the reference package, with gaps and constants."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from reports.metrics.alpha import alpha_ordinal

Labels = NDArray[np.int8]
MATRICES = hnp.arrays(np.int8, st.tuples(st.integers(2, 5), st.integers(1, 25)), elements=st.integers(-1, 2))


def reference(labels: Labels) -> float | None:
    """The package's alpha; None where it finds nothing to compare (it raises)."""
    pairable = labels[:, (labels >= 0).sum(axis=0) > 1]
    if len(np.unique(pairable[pairable >= 0])) < 2:
        return None
    data = np.where(labels < 0, np.nan, labels)
    return float(krippendorff.alpha(data, level_of_measurement="ordinal", value_domain=[0, 1, 2]))


@given(MATRICES)
def test_alpha_is_the_reference_packages(labels: Labels) -> None:
    expected = reference(labels)
    assert alpha_ordinal(labels) == (None if expected is None else pytest.approx(expected))


@given(MATRICES, st.integers(0, 100))
def test_neither_judge_order_nor_unit_order_matters(labels: Labels, seed: int) -> None:
    rng = np.random.default_rng(seed)
    moved = rng.permuted(labels, axis=0) if seed % 2 else labels[:, rng.permutation(labels.shape[1])]
    found = alpha_ordinal(labels)
    assert alpha_ordinal(moved) == (None if found is None else pytest.approx(found))


def test_perfect_agreement_is_one() -> None:
    assert alpha_ordinal(np.array([[0, 1, 2], [0, 1, 2]])) == 1


def test_a_far_disagreement_costs_more_than_a_near_one() -> None:
    base = [0, 0, 1, 1, 2, 2]
    near, far = np.array([base, [1, *base[1:]]]), np.array([base, [2, *base[1:]]])
    assert (alpha_ordinal(near) or 0) > (alpha_ordinal(far) or 0)


@pytest.mark.parametrize("labels", [[[1, 1], [1, 1]], [[0, -1], [-1, 2]], [[-1], [-1]], [[], []]])
def test_alpha_is_undefined_without_two_values_in_overlapping_units(labels: list[list[int]]) -> None:
    assert alpha_ordinal(np.array(labels, dtype=np.int8)) is None


def test_a_vector_is_refused() -> None:
    with pytest.raises(ValueError, match="judges x units"):
        alpha_ordinal(np.array([0, 1]))
