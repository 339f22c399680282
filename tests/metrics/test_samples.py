"""Several answers of a run to a topic: its score is their mean, and figures say how alike they are."""

import numpy as np
import pytest

from evaluation.terms import SupportMeasure
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.random_check.weights import nugget_weights, support_weights, values_of
from reports.metrics.samples import sample_figures
from reports.metrics.scores import answer_scores, doubts, run_scores
from reports.metrics.support import (
    PRECISION,
    RECALL,
    SENTENCES,
    answer_support,
    citing,
    run_support,
    support_table,
)
from tests.metrics.sheet_makers import assignment_sheet, support_sheet

N, P, S = 0, 1, 2
# Samples S S P N, S S S N and N S N N of A, and one answer of B.
WORKED = [[S, S, N, S], [S, S, S, N], [P, S, N, N], [N, N, N, N]]
COLUMNS = [0, 0, 0, 1]
DEFAULT = Policies()


def test_the_worked_figures() -> None:
    sheet = assignment_sheet(["vvvv"], WORKED, column_run=COLUMNS)
    assert answer_scores(sheet, DEFAULT).of("all_strict").tolist() == [[0.5, 0.25]]
    found = sample_figures(sheet, DEFAULT, "all_strict", 0.5)
    assert (found["topics"].tolist(), found["samples"].tolist()) == ([1, 0], [3, 0])
    np.testing.assert_allclose(found["mean"], [0.5, np.nan])
    np.testing.assert_allclose(found["sd"], [0.25, np.nan])
    np.testing.assert_allclose(found["consistency"], [(1 / 3 + 1 + 0 + 1) / 4, np.nan])
    np.testing.assert_allclose(found["pass_all"], [0, np.nan])
    np.testing.assert_allclose(sample_figures(sheet, DEFAULT, "all_strict", 0.25)["pass_all"], [1, np.nan])


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_a_topic_with_fewer_samples_is_the_mean_of_those_that_are_there(missing: str) -> None:
    labels = [[S, N, S], [S, -1, N], [-1, -1, N]]
    answered = [[True, True, True], [True, False, True], [False, False, True]]
    sheet = assignment_sheet(["v", "v", "v"], labels, answered, column_run=[0, 0, 1])
    policies = Policies(missing=missing)  # type: ignore[arg-type]
    found = run_scores(sheet, policies)
    assert found.of("all_strict").tolist() == [0.5 if missing == "zero" else 0.75, 1 / 3]
    assert (found.missing.tolist(), found.judged.tolist()) == ([1, 0], [3, 3])
    assert found.length.tolist() == [20 / 3 if missing == "zero" else 10, 10]


def test_a_sample_with_an_unjudged_nugget_is_left_out_alone() -> None:
    sheet = assignment_sheet(["vv"], [[S, S], [-1, N]], column_run=[0, 0])
    assert answer_scores(sheet, DEFAULT).of("all_strict").tolist() == [[0.5]]
    assert {name: counts.tolist() for name, counts in doubts(sheet, DEFAULT).items()} == {
        "missing": [[0]],
        "unjudged": [[1]],
        "failed": [[0]],
        "excluded": [[1]],
    }


def test_support_is_the_mean_of_the_samples_and_counts_are_sums() -> None:
    sheet = support_sheet([[[[2], [0]], [[2]], [[1], []]], [None, [[2]], None]], column_run=[0, 0, 1])
    policies = SupportPolicies(SupportMeasure.FIRST)
    found = answer_support(sheet, policies)
    np.testing.assert_array_equal(found.scores[PRECISION], [[0.75, 0.5], [1, 0]])
    np.testing.assert_array_equal(found.scores[RECALL], [[0.75, 0.25], [1, 0]])
    runs = run_support(sheet, policies)
    assert (runs.judged.tolist(), runs.sentences.tolist()) == ([4, 1], [4 / 3, 2])
    assert citing(sheet).sentences.tolist() == [[3, 2], [1, 0]]
    np.testing.assert_array_equal(support_table(sheet, SENTENCES, policies).values, [[1.5, 2], [1, np.nan]])
    weights = support_weights(sheet, policies)[PRECISION].weights
    assert weights @ np.array([1, 0, 1, 0, 1]) == pytest.approx((0.75 + 1) / 2)


def test_a_score_is_the_sum_of_its_pairs_with_their_weights() -> None:
    sheet = assignment_sheet(["vvvv"], WORKED, column_run=COLUMNS)
    weights = nugget_weights(sheet, DEFAULT)["all_strict"].weights
    by_column = (weights * values_of("all_strict")[sheet.labels]).sum(axis=0)
    assert [by_column[:3].sum(), by_column[3]] == pytest.approx([0.5, 0.25])


def test_runs_are_chosen_with_all_their_columns() -> None:
    sheet = assignment_sheet(["vvvv"], WORKED, column_run=COLUMNS).of_runs(np.array([1, 0]))
    assert (sheet.run_ids, sheet.column_run.tolist()) == (("B", "A"), [0, 1, 1, 1])
    assert answer_scores(sheet, DEFAULT).of("all_strict").tolist() == [[0.25, 0.5]]
    with pytest.raises(ValueError, match="column_run"):
        assignment_sheet(["v"], [[S, S]], column_run=[0, 2])
