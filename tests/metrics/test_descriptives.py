"""Descriptive statistics of nugget sets and labels."""

import numpy as np
import pytest

from reports.metrics.descriptives import label_shares, nugget_statistics, word_count
from reports.metrics.label_matrix import FAILED, UNJUDGED


def test_nuggets_per_topic_counts_empty_lists() -> None:
    found = nugget_statistics(
        listed=np.array([True, True, False]),
        nugget_topic=np.array([0, 0, 0, 0], dtype=np.int32),
        importance=np.array([2, 2, 1, 0], dtype=np.int8),
        words=np.array([3, 4, 5, 6], dtype=np.int32),
    )
    assert tuple(found.values()) == (2, 2.0, 4.5, 0.5, 0.25, 0.25)


def test_a_set_without_nuggets_has_no_means() -> None:
    none = np.zeros(0, dtype=np.int32)
    found = nugget_statistics(np.array([True, False]), none, none.astype(np.int8), none)
    assert tuple(found.values()) == (1, 0.0, None, None, None, None)
    nothing = nugget_statistics(np.zeros(0, dtype=np.bool_), none, none.astype(np.int8), none)
    assert nothing["nuggets_per_topic"] is None


def test_columns_of_unequal_length_are_refused() -> None:
    short, long = np.zeros(1, dtype=np.int32), np.zeros(2, dtype=np.int32)
    with pytest.raises(ValueError, match="per nugget"):
        nugget_statistics(np.array([True]), short, short.astype(np.int8), long)


def test_label_shares_are_of_the_labels_that_were_given() -> None:
    labels = np.array([[0, 2], [1, 0], [FAILED, UNJUDGED]], dtype=np.int8)
    assert label_shares(labels) == (4, [0.5, 0.25, 0.25])
    assert label_shares(labels[2:]) == (0, [None, None, None])


def test_words_are_separated_by_white_space() -> None:
    assert word_count("  one two-three\tfour ") == 3
