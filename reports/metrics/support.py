"""Weighted precision and recall of citations (Thakur et al. 2025, evaluation metrics; docs/metrics.md#support).

Full support weighs 1, partial 0.5, none 0. With more than one citation per sentence, recall takes
each sentence's best label; only one citation per sentence is the published measure.
"""

from dataclasses import dataclass, fields

import numpy as np

from evaluation.labels import CITATION_LABELS
from reports.metrics.agreement import ScoreTable
from reports.metrics.arrays import Booleans, Bytes, Counts, Floats, Indices, column_means, ratio
from reports.metrics.label_matrix import FAILED, UNJUDGEABLE, UNJUDGED, SupportSheet
from reports.metrics.policies import SupportPolicies
from reports.metrics.registry import Profile, names_of

FULL = len(CITATION_LABELS) - 1
PRECISION, RECALL, SENTENCES = SUPPORT_NAMES = names_of(Profile.CITATIONS)


@dataclass(frozen=True, slots=True)
class AnswerSupport:
    """Support of every answer of a condition; all T x R but `topics` T.

    `precision` and `recall` lie in [0, 1], nan where the answer does not count. `sentences` and
    `uncited` count sentences. `topics` are those with a label in the condition, or all if it has none.
    """

    precision: Floats
    recall: Floats
    sentences: Counts
    uncited: Counts
    topics: Booleans


@dataclass(frozen=True, slots=True)
class RunSupport:
    """Support of every run over the condition's topics; all arrays R.

    `precision` and `recall` are means in [0, 1], nan where undefined, over `precision_topics` and
    `recall_topics` answers. `sentences` is the mean per submitted answer (nan without one),
    `sentences_total` and `sentences_uncited` are sums. The other four count (sentence, segment)
    pairs; `failed` counts them on every topic, since a failure is no label that makes a topic count.
    """

    run_ids: tuple[str, ...]
    precision: Floats
    recall: Floats
    precision_topics: Counts
    recall_topics: Counts
    sentences: Floats
    sentences_total: Counts
    sentences_uncited: Counts
    judged: Counts
    unjudged: Counts
    failed: Counts
    unjudgeable: Counts


def answer_support(sheet: SupportSheet, policies: SupportPolicies) -> AnswerSupport:
    """Weighted precision and recall of every answer (Thakur et al. 2025, evaluation metrics).

    A pair without a label leaves precision's denominator, and a cited sentence without any label
    leaves recall's; an uncited sentence always stays there. An answer without a sentence has recall
    0. A run that cites in the condition's topics but has no label in them has no scores.
    """
    judged = _pairs(sheet, sheet.unit_label >= 0) > 0
    cites = _per_answer(sheet, sheet.sentence_answer[sheet.cited]) > 0
    # A condition is judged topic by topic: the topics with a label are those that its scores are over.
    labelled: Booleans = np.any(judged, axis=1)
    topics = labelled if labelled.any() else np.ones_like(labelled)
    uncited = _per_answer(sheet, sheet.sentence_answer[~sheet.cited])
    # Such a run needs no label: its precision is undefined, and its recall is 0 by rule.
    never_cites = sheet.answered[topics].any(axis=0) & ~cites[topics].any(axis=0)
    scored = labelled[:, np.newaxis] & (judged.any(axis=0) | never_cites)
    precision, recall = _precision(sheet), _recall(sheet)
    if policies.no_cited == "zero":
        precision[~cites] = 0.0
    # In this order: a run without a label has no score even under `missing zero`.
    for values in (precision, recall):
        values[~sheet.answered] = 0.0 if policies.missing == "zero" else np.nan
        values[~scored] = np.nan
    return AnswerSupport(precision, recall, _per_answer(sheet, sheet.sentence_answer), uncited, topics)


def run_support(sheet: SupportSheet, policies: SupportPolicies, topics: Booleans | None = None) -> RunSupport:
    """Means over the condition's topics per run, with counts; `topics` (T) restricts them further."""
    answers = answer_support(sheet, policies)
    part = np.ones_like(answers.topics) if topics is None else topics
    rows = answers.topics & part
    total, submitted = answers.sentences[rows].sum(axis=0), sheet.answered[rows].sum(axis=0)
    return RunSupport(
        run_ids=sheet.run_ids,
        precision=column_means(answers.precision, rows),
        recall=column_means(answers.recall, rows),
        precision_topics=(~np.isnan(answers.precision[rows])).sum(axis=0),
        recall_topics=(~np.isnan(answers.recall[rows])).sum(axis=0),
        sentences=ratio(total, submitted),
        sentences_total=total,
        sentences_uncited=answers.uncited[rows].sum(axis=0),
        judged=_pairs(sheet, sheet.unit_label >= 0)[rows].sum(axis=0),
        unjudged=_pairs(sheet, sheet.unit_label == UNJUDGED)[rows].sum(axis=0),
        failed=_pairs(sheet, sheet.unit_label == FAILED)[part].sum(axis=0),
        unjudgeable=_pairs(sheet, sheet.unit_label == UNJUDGEABLE)[rows].sum(axis=0),
    )


def support_table(sheet: SupportSheet, name: str, policies: SupportPolicies) -> ScoreTable:
    """One of SUPPORT_NAMES, ready for `agreement` and `intervals`. Raises KeyError for another name."""
    answers = answer_support(sheet, policies)
    sentences = np.where(sheet.answered, answers.sentences.astype(np.float64), np.nan)
    values = {PRECISION: answers.precision, RECALL: answers.recall, SENTENCES: sentences}[name]
    return ScoreTable(sheet.run_ids, sheet.topic_ids, values, answers.topics)


def _precision(sheet: SupportSheet) -> Floats:
    """Sum of weights / judged pairs, T x R, nan without a judged pair. Points from 0 to FULL keep both whole."""
    judged = sheet.unit_label >= 0
    answer = sheet.sentence_answer[sheet.unit_sentence[judged]]
    return ratio(_per_answer(sheet, answer, sheet.unit_label[judged]), FULL * _per_answer(sheet, answer))


def _recall(sheet: SupportSheet) -> Floats:
    """Sum of each sentence's best weight / sentences that are judged or uncited, T x R."""
    # With k > 1 a sentence is as well supported as its best citation supports it (docs/metrics.md#support).
    best = np.full(len(sheet.sentence_answer), UNJUDGED, dtype=np.int8)
    np.maximum.at(best, sheet.unit_sentence, sheet.unit_label)
    counts = (best >= 0) | ~sheet.cited
    answer, points = sheet.sentence_answer[counts], np.maximum(best[counts], 0)
    recall = ratio(_per_answer(sheet, answer, points), FULL * _per_answer(sheet, answer))
    # An answer that is there and says nothing supports nothing: 0 and not undefined.
    recall[_per_answer(sheet, sheet.sentence_answer) == 0] = 0.0
    return recall


def _pairs(sheet: SupportSheet, units: Booleans) -> Counts:
    """Number of the chosen units of each answer, T x R."""
    return _per_answer(sheet, sheet.sentence_answer[sheet.unit_sentence[units]])


def _per_answer(sheet: SupportSheet, answer: Indices, weights: Bytes | None = None) -> Counts:
    """Count, or sum whole weights, per flat answer index, T x R."""
    # Weights make bincount return floats; sums of half points are whole and exact.
    sums = np.bincount(answer, weights, minlength=sheet.answered.size)
    return sums.astype(np.int64).reshape(sheet.answered.shape)


@dataclass(frozen=True, slots=True)
class Citing:
    """Counts of (sentence, segment) pairs by label, and of sentences; all of one shape, T x R, T or R.

    `labels`: those of each label, in the order of the codes.
    """

    labels: tuple[Counts, ...]
    unjudged: Counts
    failed: Counts
    unjudgeable: Counts
    sentences: Counts
    uncited: Counts

    @property
    def judged(self) -> Counts:
        judged: Counts = np.sum(self.labels, axis=0)
        return judged

    @property
    def over(self) -> Floats:
        """Judged citations without support / judged citations, nan without any."""
        return ratio(self.labels[0], self.judged)

    @property
    def under(self) -> Floats:
        """Sentences that cite nothing / sentences, nan without any."""
        return ratio(self.uncited, self.sentences)

    def summed(self, axis: int, topics: Booleans) -> "Citing":
        """Sum T x R over the chosen topics (axis 0: R) or over runs (axis 1: chosen topics)."""
        labels, *others = (getattr(self, field.name) for field in fields(self))
        return Citing(
            tuple(counts[topics].sum(axis=axis) for counts in labels),
            *(counts[topics].sum(axis=axis) for counts in others),
        )


def citing(sheet: SupportSheet) -> Citing:
    """Count the labels and sentences of every answer, T x R."""
    sentences = (sheet.sentence_answer, sheet.sentence_answer[~sheet.cited])
    return Citing(
        tuple(_pairs(sheet, sheet.unit_label == label) for label in range(len(CITATION_LABELS))),
        *(_pairs(sheet, sheet.unit_label == label) for label in (UNJUDGED, FAILED, UNJUDGEABLE)),
        *(_per_answer(sheet, answer) for answer in sentences),
    )
