"""Scores by weights, worked out by hand."""

import numpy as np
import pytest

from reports.metrics.label_matrix import UNJUDGED, AssignmentSheet
from reports.metrics.policies import Policies
from reports.metrics.registry import Profile, names_of
from reports.metrics.scores import answer_scores, run_scores
from tests.metrics.sheet_makers import assignment_sheet

RUBRIC = Policies(profile=Profile.RUBRIC)
NAMES = names_of(Profile.RUBRIC)
NAN = float("nan")


def one(labels: list[int], weight: list[float], lists: str = "vvoo", policies: Policies = RUBRIC) -> list[float]:
    sheet = assignment_sheet([lists], [[label] for label in labels], weight=weight)
    return [float(answer_scores(sheet, policies).of(name)[0, 0]) for name in NAMES]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([2, 1, 2, 0], [(5 + 1.5 + 1) / 9, 6 / 9, 0, 1]),
        ([2, 1, 2, 2], [(5 + 1.5 + 1 - 3) / 9, (6 - 3) / 9, 1, 1]),
        ([2, 1, 2, 1], [(5 + 1.5 + 1 - 1.5) / 9, 6 / 9, 0, 1]),
        ([0, 0, 0, 2], [-3 / 9, -3 / 9, 1, 2]),
    ],
)
def test_what_an_answer_must_not_do_takes_away(labels: list[int], expected: list[float]) -> None:
    assert one(labels, [5, 3, 1, -3]) == pytest.approx(expected, abs=1e-15)


def test_a_weight_of_nothing_counts_nothing_and_a_list_without_a_positive_one_has_no_score() -> None:
    assert one([2, 0, 2, 2], [5, 5, 0, 0]) == [0.5, 0.5, 0, 1]
    assert one([2, 0, 2, 2], [0, 0, -1, -1]) == pytest.approx([NAN, NAN, 2, 0], nan_ok=True)
    assert one([2, 0, 2, 2], [NAN] * 4) == pytest.approx([NAN] * 4, nan_ok=True)


@pytest.mark.parametrize("weight", [-3.0, 0.0])
def test_a_mandatory_criterion_that_asks_for_nothing_is_never_missed(weight: float) -> None:
    assert [one([2, label, 0], [5, weight, 1], "vvo")[3] for label in (0, 1, 2)] == [0, 0, 0]


def test_equal_fractions_of_weights_with_decimals_are_equal_numbers() -> None:
    assert one([2, 2, 0, 0], [0.1, 0.2, 0.3, 0.4])[0] == one([0, 0, 2, 0], [0.1, 0.2, 0.3, 0.4])[0] == 0.3


def two_runs() -> AssignmentSheet:
    """The second run has no answer to the first topic, and an unjudged criterion in the second."""
    return assignment_sheet(
        ["vo", "v"], [[2, UNJUDGED], [0, UNJUDGED], [2, UNJUDGED]], [[True, False], [True, True]], weight=[4, -1, 2],
        labelled=[True, True],
    )  # fmt: skip


def test_a_missing_answer_misses_what_is_mandatory_or_is_left_out() -> None:
    counted = run_scores(two_runs(), RUBRIC)
    assert [float(counted.of(name)[1]) for name in NAMES] == [0, 0, 0, 1]
    assert counted.missing.tolist() == [0, 1]
    assert counted.excluded.tolist() == [0, 1]
    skipped = run_scores(two_runs(), Policies(missing="skip", profile=Profile.RUBRIC))
    assert np.isnan([skipped.of(name)[1] for name in NAMES]).all()
