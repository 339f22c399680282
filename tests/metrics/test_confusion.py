"""Confusion of two judges, against scikit-learn and by hand."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from reports.metrics.arrays import Bytes
from reports.metrics.confusion import confusion, harsh_conflicts
from reports.metrics.label_matrix import FAILED, UNJUDGED

PAIRS = hnp.arrays(np.int8, st.tuples(st.just(2), st.integers(1, 60)), elements=st.integers(0, 2))
GAPPED = hnp.arrays(np.int8, st.tuples(st.just(2), st.integers(0, 60)), elements=st.integers(-2, 2))


def labels(*values: int) -> Bytes:
    return np.array(values, dtype=np.int8)


def test_counts_rates_and_strictness_by_hand() -> None:
    found = confusion(labels(0, 0, 1, 2), labels(0, 2, 1, 1), 3)
    assert found.counts.tolist() == [[1, 0, 1], [0, 1, 0], [0, 1, 0]]
    assert (found.pairs, found.agreement, found.strictness) == (4, 0.5, -0.25)
    assert (found.row_rates, found.column_rates) == ((0.5, 0.25, 0.25), (0.25, 0.5, 0.25))
    assert found.kappa == pytest.approx(1 - 0.5 / (1 - (0.125 + 0.125 + 0.0625)))


def test_the_published_list_qa_matrix_gives_its_published_figures() -> None:
    counts = np.array([[1683, 36, 25], [10, 34, 83], [2, 5, 642]])
    rows, columns = (np.repeat(side.ravel(), counts.ravel()).astype(np.int8) for side in np.indices((3, 3)))
    found = confusion(rows, columns, 3)
    assert found.pairs == 2520
    assert found.agreement == pytest.approx(0.9361, abs=5e-5)
    assert found.kappa == pytest.approx(0.860, abs=5e-4)
    assert found.kappa_linear == pytest.approx(0.911, abs=5e-4)
    assert found.strictness == pytest.approx(-0.0595, abs=5e-5)
    assert found.row_rates[1] == pytest.approx(0.0504, abs=5e-5)
    assert found.column_rates[1] == pytest.approx(0.0298, abs=5e-5)


def test_items_without_two_labels_are_left_out_and_counted() -> None:
    found = confusion(labels(0, FAILED, 2), labels(0, 1, UNJUDGED), 3)
    assert (found.pairs, found.left_out) == (1, 2)


def test_no_pairs_leave_everything_undefined() -> None:
    found = confusion(labels(), labels(), 3)
    assert found.agreement is found.kappa is found.kappa_linear is found.alpha is found.strictness is None
    assert found.row_rates == (None, None, None)


def test_kappa_is_undefined_where_both_say_one_label_throughout() -> None:
    found = confusion(labels(1, 1), labels(1, 1), 3)
    assert (found.kappa, found.kappa_linear, found.alpha, found.agreement) == (None, None, None, 1)


def test_harsh_conflicts_are_support_against_not_support() -> None:
    found = harsh_conflicts(labels(0, 2, 1, 2, UNJUDGED), labels(2, 0, 2, 2, 0), 3)
    assert found.tolist() == [True, True, False, False, False]


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="same items"):
        confusion(labels(0), labels(0, 1), 3)
    with pytest.raises(ValueError, match="below 3"):
        confusion(labels(3), labels(0), 3)


@given(PAIRS)
def test_kappas_are_scikit_learns(ab: Bytes) -> None:
    found = confusion(ab[0], ab[1], 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns where kappa is undefined
        theirs = [cohen_kappa_score(*ab, labels=[0, 1, 2], weights=weights) for weights in (None, "linear")]
    for ours, other in zip((found.kappa, found.kappa_linear), theirs, strict=True):
        assert np.isnan(other) if ours is None else ours == pytest.approx(other)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_grades_of_any_number_are_compared_as_others_do(size: int, seed: int) -> None:
    first, second = np.random.default_rng(seed).integers(-1, size, (2, 40)).astype(np.int8)
    found, both = confusion(first, second, size), (first >= 0) & (second >= 0)
    names = list(range(size))
    assert (found.counts == confusion_matrix(first[both], second[both], labels=names)).all()
    for ours, weights in ((found.kappa, None), (found.kappa_linear, "linear")):
        theirs = cohen_kappa_score(first[both], second[both], labels=names, weights=weights)
        assert ours == pytest.approx(theirs)


@given(GAPPED)
def test_swapping_the_judges_transposes_and_turns_the_sign(ab: Bytes) -> None:
    found, swapped = confusion(ab[0], ab[1], 3), confusion(ab[1], ab[0], 3)
    assert (found.counts == swapped.counts.T).all()
    assert (found.kappa is None) == (swapped.kappa is None)
    assert found.row_rates == swapped.column_rates
    if found.strictness is not None and swapped.strictness is not None:
        assert found.strictness == -swapped.strictness


@given(GAPPED, st.integers(0, 100))
def test_the_order_of_items_does_not_matter(ab: Bytes, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(ab.shape[1])
    found, moved = confusion(ab[0], ab[1], 3), confusion(ab[0, order], ab[1, order], 3)
    assert (found.counts == moved.counts).all()
    assert (found.kappa, found.strictness) == (moved.kappa, moved.strictness)
