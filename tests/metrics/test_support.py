"""Weighted precision and recall of citations, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.terms import SupportMeasure
from reports.metrics.agreement import agreement
from reports.metrics.label_matrix import FAILED, UNJUDGEABLE, UNJUDGED, SupportSheet
from reports.metrics.policies import SupportPolicies
from reports.metrics.support import PRECISION, RECALL, RunSupport, answer_support, run_support, support_table

from .sheet_makers import support_sheet

DEFAULT = SupportPolicies(SupportMeasure.POOLED)
FS, PS, NS, UNCITED = [2], [1], [0], list[int]()


def first(sheet: SupportSheet, policies: SupportPolicies = DEFAULT) -> tuple[float, float]:
    found = run_support(sheet, policies)
    return float(found.means[PRECISION][0]), float(found.means[RECALL][0])


def test_the_published_example() -> None:
    assert first(support_sheet([[[PS, FS, UNCITED]]])) == (0.75, 0.5)


def test_no_support_stays_in_both_denominators() -> None:
    assert first(support_sheet([[[FS, NS, UNCITED, UNCITED]]])) == (0.5, 0.25)


@pytest.mark.parametrize("gap", [UNJUDGED, FAILED, UNJUDGEABLE])
def test_a_pair_without_a_label_leaves_both_denominators(gap: int) -> None:
    assert first(support_sheet([[[FS, [gap], UNCITED]]])) == (1, 0.5)


def test_pairs_without_a_label_are_counted_apart() -> None:
    found = run_support(support_sheet([[[FS, [UNJUDGED], [FAILED], [FAILED], [UNJUDGEABLE]]]]), DEFAULT)
    counts = (found.judged, found.unjudged, found.failed, found.unjudgeable)
    assert [int(each[0]) for each in counts] == [1, 1, 2, 1]


def test_with_more_citations_recall_takes_each_sentences_best_label() -> None:
    assert first(support_sheet([[[[0, 2], [1, UNJUDGED], UNCITED]]])) == (0.5, 0.5)


def test_an_unlabelled_cited_sentence_leaves_recall_for_any_k() -> None:
    assert first(support_sheet([[[FS, [UNJUDGED, FAILED], UNCITED]]])) == (1, 0.5)


def test_citing_nothing_has_no_precision_unless_counted_as_zero() -> None:
    sheet = support_sheet([[[FS]], [[UNCITED]]])
    skip, zero = run_support(sheet, DEFAULT), run_support(sheet, replace(DEFAULT, no_cited="zero"))
    assert (skip.means[PRECISION][0], zero.means[PRECISION][0]) == (1, 1)  # the second topic has no label
    sheet = support_sheet([[[FS], [NS]], [[UNCITED], [NS]]])
    assert first(sheet) == (1, 0.5)
    assert first(sheet, replace(DEFAULT, no_cited="zero")) == (0.5, 0.5)
    found = run_support(sheet, DEFAULT)
    assert (found.counted["precision"][0], found.counted["recall"][0]) == (1, 2)


def test_all_citations_unjudged_is_not_citing_nothing() -> None:
    sheet = support_sheet([[[FS], [NS]], [[[UNJUDGED]], [NS]]])
    assert first(sheet, replace(DEFAULT, no_cited="zero")) == (1, 1)


def test_a_missing_answer_counts_zero_or_is_left_out() -> None:
    sheet = support_sheet([[[FS], [FS]], [None, [FS]]])
    assert first(sheet) == (0.5, 0.5)
    assert first(sheet, replace(DEFAULT, missing="skip")) == (1, 1)


def test_an_answer_without_a_sentence_recalls_nothing() -> None:
    sheet = support_sheet([[[FS], [FS]], [[], [FS]]])
    assert first(sheet) == (1, 0.5)


def test_only_topics_with_a_label_count() -> None:
    sheet = support_sheet([[[FS, UNCITED]], [[UNCITED, UNCITED, [UNJUDGED]]]])
    found = run_support(sheet, DEFAULT)
    assert (found.means[RECALL][0], found.sentences[0], found.sentences_total[0]) == (0.5, 2, 2)
    assert (found.sentences_uncited[0], found.unjudged[0]) == (1, 0)


def test_failures_on_topics_without_a_label_are_counted_too() -> None:
    found = run_support(support_sheet([[[FS]], [[[FAILED], UNCITED]]]), DEFAULT)
    assert (found.failed[0], found.sentences_total[0]) == (1, 1)


def test_unjudged_sentence_statistics_are_over_all_topics() -> None:
    sheet = support_sheet([[[[UNJUDGED], UNCITED], None], [[UNCITED], [UNCITED]]])
    found = run_support(sheet, DEFAULT)
    assert (found.sentences.tolist(), found.sentences_total.tolist()) == ([1.5, 1], [3, 1])
    assert (found.sentences_uncited.tolist(), found.unjudged.tolist()) == ([2, 1], [1, 0])
    assert np.isnan([found.means[PRECISION], found.means[RECALL]]).all()


def test_a_run_that_cites_but_is_not_judged_has_no_scores() -> None:
    found = run_support(support_sheet([[[FS], [[UNJUDGED], UNCITED]]]), replace(DEFAULT, no_cited="zero"))
    assert np.isnan([found.means[PRECISION][1], found.means[RECALL][1]]).all()


def test_a_run_that_never_cites_recalls_nothing() -> None:
    found = run_support(support_sheet([[[FS], [UNCITED]]]), DEFAULT)
    assert found.means[RECALL][1] == 0
    assert np.isnan(found.means[PRECISION][1])


def test_support_can_be_restricted_to_some_topics() -> None:
    sheet = support_sheet([[[FS]], [[NS]]])
    found: RunSupport = run_support(sheet, DEFAULT, np.array([False, True]))
    assert (found.means[PRECISION][0], found.judged[0]) == (0, 1)


def test_two_support_conditions_are_compared_like_scores() -> None:
    x = support_table(support_sheet([[[FS], [PS], [NS]]]), "weighted_precision", DEFAULT)
    y = support_table(support_sheet([[[FS], [NS], [PS]]]), "weighted_precision", DEFAULT)
    found = agreement(x, y)
    assert found.pairs == 3
    assert found.run_level == pytest.approx(1 / 3)


def test_a_table_of_sentences_holds_submitted_answers_alone() -> None:
    found = support_table(support_sheet([[[FS, UNCITED], None]]), "sentences", DEFAULT)
    np.testing.assert_array_equal(found.values, [[2, np.nan]])


def test_answers_are_given_one_by_one() -> None:
    found = answer_support(support_sheet([[[FS], [UNCITED, PS]]]), DEFAULT)
    assert found.scores[RECALL].tolist() == [[1, 0.25]]
    assert (found.sentences.tolist(), found.uncited.tolist()) == ([[1, 2]], [[0, 1]])


def test_a_unit_of_an_uncited_sentence_is_refused() -> None:
    good = support_sheet([[[FS]]])
    with pytest.raises(ValueError, match="cites nothing"):
        SupportSheet(
            good.run_ids,
            good.topic_ids,
            good.column_run,
            good.answered,
            good.sentence_answer,
            good.unit_sentence,
            good.unit_label,
            ~good.cited,
        )


EXAMPLE = [[[[2, 0], FS, UNCITED]]]


@pytest.mark.parametrize(
    ("measure", "figures"),
    [
        (SupportMeasure.SENTENCE, (0.75, 0.5)),
        (SupportMeasure.POOLED, (2 / 3, 2 / 3)),
        (SupportMeasure.FIRST, (1, 2 / 3)),
    ],
)
def test_three_sentences_under_each_measure(measure: SupportMeasure, figures: tuple[float, float]) -> None:
    assert first(support_sheet(EXAMPLE), SupportPolicies(measure)) == pytest.approx(figures, abs=1e-12)


def test_strict_scores_count_full_support_alone() -> None:
    found = run_support(support_sheet([[[[2, 1], PS, UNCITED]]]), SupportPolicies(SupportMeasure.SENTENCE))
    values = [found.means[name][0] for name in ("weighted_precision", "precision_strict", "recall_strict")]
    assert values == [(0.75 + 0.5) / 2, 0.5 / 2, 0.5 / 3]


def test_by_its_first_citation_a_sentence_without_that_label_leaves_both() -> None:
    sheet = support_sheet([[[[UNJUDGED, 2], [2, 0], UNCITED]]])
    assert first(sheet, SupportPolicies(SupportMeasure.FIRST)) == (1, 0.5)
    assert first(sheet, SupportPolicies(SupportMeasure.SENTENCE)) == (0.75, 0.5)


@pytest.mark.parametrize("measure", SupportMeasure)
def test_one_citation_a_sentence_has_one_figure(measure: SupportMeasure) -> None:
    answers: list[list[list[list[int]] | None]] = [
        [[FS, [UNJUDGED], UNCITED], [PS, NS]],
        [[], [UNCITED]],
        [None, [[FAILED]]],
    ]
    found = answer_support(support_sheet(answers), SupportPolicies(measure))
    usual = answer_support(support_sheet(answers), DEFAULT)
    for name, values in usual.scores.items():
        np.testing.assert_array_equal(found.scores[name], values)


def test_the_first_measure_is_that_of_one_citation_a_sentence() -> None:
    answers = [[[[0, 2], [UNJUDGED, 1], UNCITED], [[1, UNJUDGED, 2]]], [[[UNJUDGED, 2]], [[2]]]]
    cut = [[[sentence[:1] for sentence in each] for each in row] for row in answers]
    found = answer_support(support_sheet(answers), SupportPolicies(SupportMeasure.FIRST))
    usual = answer_support(support_sheet(cut), DEFAULT)
    for name, values in usual.scores.items():
        np.testing.assert_array_equal(found.scores[name], values)
