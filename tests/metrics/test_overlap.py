"""Agreement on an overlap set against the reference package, and what is said where nothing is defined."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from reports.metrics.alpha import alpha_ordinal, overlap

Labels = NDArray[np.int8]
MATRICES = hnp.arrays(np.int8, st.tuples(st.integers(2, 5), st.integers(1, 25)), elements=st.integers(-3, 2))


def topics_of(labels: Labels, number: int = 3) -> NDArray[np.int32]:
    return (np.arange(labels.shape[1]) % number).astype(np.int32)


@given(MATRICES)
def test_figures_are_those_of_the_whole_matrix(labels: Labels) -> None:
    found = overlap(labels, topics_of(labels), 3)
    pairs = [
        labels[a, unit] == labels[b, unit]
        for unit in range(labels.shape[1])
        for a in range(len(labels))
        for b in range(a)
        if labels[a, unit] >= 0 and labels[b, unit] >= 0
    ]
    expected = alpha_ordinal(np.maximum(labels, -1))
    assert found.alpha == (None if expected is None else pytest.approx(expected))
    assert found.agreement == (pytest.approx(np.mean(pairs)) if pairs else None)
    assert (found.pairs, found.units) == (len(pairs), int(((labels >= 0).sum(axis=0) > 1).sum()))


def test_alpha_of_two_judges_with_gaps_is_the_reference_packages() -> None:
    labels = np.array([[0, 1, 2, 2, -1, 0, 1], [0, 2, 2, 1, 1, 0, -3]], dtype=np.int8)
    data = np.where(labels < 0, np.nan, labels)
    expected = krippendorff.alpha(data, level_of_measurement="ordinal", value_domain=[0, 1, 2])
    assert overlap(labels, topics_of(labels), 3).alpha == pytest.approx(expected)


def test_equal_labels_leave_alpha_undefined_and_say_how_many() -> None:
    found = overlap(np.full((3, 8), 2, dtype=np.int8), np.arange(8, dtype=np.int32), 3)
    assert (found.alpha, found.unanimous, found.units, found.agreement) == (None, True, 8, 1.0)
    assert found.alpha_interval.reason == "undefined: all labels equal"


def test_no_overlap_is_not_unanimous() -> None:
    found = overlap(np.array([[1, -1], [-1, 2]], dtype=np.int8), np.arange(2, dtype=np.int32), 3)
    assert (found.alpha, found.unanimous, found.units, found.agreement) == (None, False, 0, None)


def test_few_topics_have_no_interval_and_more_have_one() -> None:
    labels = np.random.default_rng(1).integers(0, 3, (2, 60)).astype(np.int8)
    assert overlap(labels, topics_of(labels, 4), 3).alpha_interval.reason == "too few topics"
    found = overlap(labels, topics_of(labels, 6), 3)
    for figure, interval in ((found.alpha, found.alpha_interval), (found.agreement, found.agreement_interval)):
        assert interval.ends is not None
        assert interval.ends[0] <= (figure or 0) <= interval.ends[1]


def test_topics_are_the_sample() -> None:
    """Topics that are all alike leave nothing to chance."""
    labels = np.array([[0, 1, 2, 2], [0, 1, 2, 1]], dtype=np.int8)
    found = overlap(np.tile(labels, 5), np.repeat(np.arange(5), 4).astype(np.int32), 3)
    assert found.agreement_interval.ends == pytest.approx((0.75, 0.75))
