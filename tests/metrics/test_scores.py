"""Nugget scores, worked out by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reports.metrics.label_matrix import FAILED, UNJUDGED, AssignmentSheet
from reports.metrics.policies import Policies
from reports.metrics.registry import LENGTH
from reports.metrics.scores import SCORE_NAMES, answer_scores, run_scores, summary

from .sheet_makers import assignment_sheet

DEFAULT = Policies()


def only(sheet: AssignmentSheet, policies: Policies = DEFAULT) -> dict[str, float]:
    scores = run_scores(sheet, policies)
    return {name: float(scores.of(name)[0]) for name in (*SCORE_NAMES, LENGTH)}


def test_each_score_follows_its_formula() -> None:
    sheet = assignment_sheet(["vvvoo?"], [[2], [1], [0], [2], [1], [2]])
    found = only(sheet)
    assert found["vital_strict"] == 1 / 3
    assert found["vital"] == 1.5 / 3
    assert found["weighted_strict"] == (1 + 0.5) / (3 + 1)
    assert found["weighted"] == (1.5 + 0.5 * 1.5) / (3 + 1)
    assert found["all_strict"] == 3 / 6
    assert found["all"] == 4 / 6


def test_a_nugget_of_unknown_importance_counts_in_all_alone() -> None:
    found = only(assignment_sheet(["v?"], [[0], [2]]))
    assert (found["vital"], found["weighted"], found["all"]) == (0, 0, 0.5)


def test_a_run_score_is_the_plain_mean_over_topics() -> None:
    found = only(assignment_sheet(["v", "vvvv"], [[2], [2], [0], [0], [0]]))
    assert found["vital_strict"] == (1 + 0.25) / 2


@pytest.mark.parametrize(("missing", "score", "length", "topics"), [("zero", 0.5, 5, 2), ("skip", 1, 10, 1)])
def test_a_missing_answer_scores_zero_or_is_left_out(
    missing: str, score: float, length: float, topics: int
) -> None:
    sheet = assignment_sheet(["v", "v"], [[2], [UNJUDGED]], [[True], [False]], [[10], [0]])
    found = run_scores(sheet, Policies(missing=missing))  # type: ignore[arg-type]
    assert (found.of("vital_strict")[0], found.length[0], found.topics[0, 0]) == (score, length, topics)
    assert (found.missing[0], found.unjudged[0], found.excluded[0]) == (1, 0, 0)


@pytest.mark.parametrize("gap", [FAILED, UNJUDGED])
@pytest.mark.parametrize(("unjudged", "score", "excluded"), [("exclude", 1, 1), ("zero", 0.75, 0)])
def test_an_answer_with_a_gap_is_excluded_or_the_gap_counts_zero(
    gap: int, unjudged: str, score: float, excluded: int
) -> None:
    sheet = assignment_sheet(["v", "vv"], [[2], [2], [gap]])
    found = run_scores(sheet, Policies(unjudged=unjudged))  # type: ignore[arg-type]
    assert found.of("all")[0] == score
    assert found.excluded[0] == excluded
    assert (found.judged[0], found.failed[0], found.unjudged[0]) == (2, gap == FAILED, gap == UNJUDGED)


def test_length_ignores_the_policy_for_gaps() -> None:
    sheet = assignment_sheet(["v", "v"], [[2], [FAILED]], words=[[10], [30]])
    assert only(sheet)[LENGTH] == 20


def test_a_topic_without_vital_nuggets_scores_zero_or_is_undefined() -> None:
    sheet = assignment_sheet(["v", "o"], [[2], [2]])
    zero, skip = only(sheet), only(sheet, Policies(no_vital="skip"))
    assert (zero["vital"], skip["vital"]) == (0.5, 1)
    assert zero["weighted"] == skip["weighted"] == zero["all"] == 1


def test_a_skipped_unknown_importance_has_no_weighted_score() -> None:
    sheet = assignment_sheet(["v", "?"], [[2], [2]])
    assert only(sheet)["weighted"] == 0.5
    assert only(sheet, Policies(no_vital="skip"))["weighted"] == 1


def test_a_missing_answer_stays_undefined_where_no_vital_is_skipped() -> None:
    sheet = assignment_sheet(["v", "o"], [[2], [UNJUDGED]], [[True], [False]])
    found = only(sheet, Policies(no_vital="skip"))
    assert (found["vital"], found["all"]) == (1, 0.5)


def test_no_vital_does_not_bring_back_an_excluded_answer() -> None:
    sheet = assignment_sheet(["v", "o"], [[2], [FAILED]])
    assert only(sheet)["vital_strict"] == 1


def test_an_empty_list_enters_nothing_and_is_counted() -> None:
    sheet = assignment_sheet(["v", "", None], [[2]], words=[[10], [99], [99]])
    found = only(sheet)
    assert (found["vital"], found[LENGTH]) == (1, 10)
    assert (sheet.empty_topics, sheet.no_vital_topics) == (1, 0)


def test_length_is_over_all_topics_where_nothing_has_nuggets() -> None:
    sheet = assignment_sheet([None, None], [], [[True], [False]], [[30], [0]])
    found = only(sheet)
    assert found[LENGTH] == 15
    assert np.isnan(found["all"])
    assert only(sheet, Policies(missing="skip"))[LENGTH] == 30


def test_a_run_without_labels_has_a_length_and_no_scores() -> None:
    found = run_scores(assignment_sheet(["v"], [[2, UNJUDGED]]), Policies(unjudged="zero"))
    assert np.isnan(found.means[:, 1]).all()
    assert (found.length[1], found.unjudged[1], found.excluded[1]) == (10, 1, 0)


def test_scores_can_be_restricted_to_some_topics() -> None:
    sheet = assignment_sheet(["v", "v"], [[2], [FAILED]], words=[[10], [30]])
    found = run_scores(sheet, DEFAULT, np.array([True, False]))
    assert (found.length[0], found.failed[0], found.excluded[0]) == (10, 0, 0)


def test_counted_marks_the_answers_that_have_a_score() -> None:
    sheet = assignment_sheet(["v", "v"], [[2, FAILED], [1, 1]])
    assert answer_scores(sheet, DEFAULT).counted.tolist() == [[True, False], [True, True]]


def test_the_summary_is_the_mean_of_each_topics_extremes() -> None:
    sheet = assignment_sheet(["v", "v"], [[0, 1, 2], [2, 2, 2]])
    found = summary(sheet, DEFAULT, np.ones(3, dtype=np.bool_))
    assert tuple(found["vital"].values()) == (0.5, 0.75, 1)
    assert tuple(found[LENGTH].values()) == (10, 10, 10)


def test_the_summary_leaves_out_controls_and_runs_without_labels() -> None:
    sheet = assignment_sheet(["v"], [[0, 1, UNJUDGED]], words=[[1, 2, 3]])
    found = summary(sheet, DEFAULT, np.array([False, True, True]))
    assert tuple(found["vital"].values()) == (0.5, 0.5, 0.5)
    assert tuple(found[LENGTH].values()) == (2, 2, 2)


def test_the_summary_of_a_condition_without_labels_has_lengths_alone() -> None:
    sheet = assignment_sheet(["v"], [[UNJUDGED, UNJUDGED]], words=[[2, 4]])
    found = summary(sheet, DEFAULT, np.array([True, True]))
    assert set(found["all"].values()) == {None}
    assert tuple(found[LENGTH].values()) == (2, 3, 4)


def test_an_unknown_score_name_is_refused() -> None:
    with pytest.raises(ValueError, match="tuple"):
        answer_scores(assignment_sheet(["v"], [[2]]), DEFAULT).of("harmonic")


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="words has shape"):
        assignment_sheet(["v"], [[2]], words=[[1, 2]])


@pytest.mark.parametrize(
    ("topics", "problem"), [([1, 0], "not ascending"), ([0, 2], "outside"), ([-1, 0], "outside")]
)
def test_nuggets_of_unknown_or_unsorted_topics_are_refused(topics: list[int], problem: str) -> None:
    good = assignment_sheet(["v", "v"], [[2], [2]])
    with pytest.raises(ValueError, match=problem):
        replace(good, nugget_topic=np.array(topics, dtype=np.int32))


@given(hnp.arrays(np.int8, (12, 3), elements=st.integers(0, 2)), st.permutations(range(12)))
def test_equal_fractions_are_equal_floats_in_any_nugget_order(
    labels: np.typing.NDArray[np.int8], order: list[int]
) -> None:
    found = answer_scores(assignment_sheet(["v" * 12], labels.tolist()), DEFAULT)
    shuffled = answer_scores(assignment_sheet(["v" * 12], labels[order].tolist()), DEFAULT)
    exact = [float(Fraction(int(column.sum()), 24)) for column in labels.T]
    assert found.of("vital")[0].tolist() == shuffled.of("vital")[0].tolist() == exact


@given(hnp.arrays(np.int8, (6, 2), elements=st.integers(-2, 2)), st.text("vo?", min_size=6, max_size=6))
def test_scores_are_bounded_and_strict_ones_the_lower(labels: np.typing.NDArray[np.int8], importance: str) -> None:
    sheet = assignment_sheet([importance[:2], importance[2:]], labels.tolist())
    values = answer_scores(sheet, Policies(unjudged="zero")).values[:, :, sheet.labelled]
    assert ((values >= 0) & (values <= 1)).all()
    assert (values[0::2] <= values[1::2]).all()
