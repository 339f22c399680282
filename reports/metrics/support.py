"""Weighted precision and recall of citations (Thakur et al. 2025, evaluation metrics; docs/metrics.md#support).

Full support weighs 1, partial 0.5 or in strict scores 0, none 0. `MEASURES` says which citations of a sentence count.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from evaluation.terms import SupportMeasure
from reports.metrics.agreement import ScoreTable
from reports.metrics.arrays import Booleans, Counts, Floats, Indices, column_means, mean_by_run, ratio, sum_by_run
from reports.metrics.label_matrix import CITATION_POINTS, FAILED, UNJUDGEABLE, UNJUDGED, SupportSheet, points_in
from reports.metrics.policies import SupportPolicies
from reports.metrics.registry import BY_NAME, Profile, names_of

FULL_POINTS = int(CITATION_POINTS[-1])
SUPPORT_NAMES = names_of(Profile.CITATIONS, sizes=True)
PRECISION, RECALL, *STRICT = SUPPORT_SCORES = names_of(Profile.CITATIONS)
SENTENCES = "sentences"


@dataclass(frozen=True, slots=True)
class AnswerSupport:
    """Support of every run on every topic of a condition, mean over its samples; all T x R but `topics` T.

    `scores` has each of SUPPORT_SCORES, in [0, 1], nan where no answer counts. `sentences` and
    `uncited` count sentences. `topics` are those with a label that counts, or all if the condition has none.
    """

    scores: dict[str, Floats]
    sentences: Counts
    uncited: Counts
    topics: Booleans


@dataclass(frozen=True, slots=True)
class RunSupport:
    """Support of every run over the condition's topics; all arrays R.

    `means` has each of SUPPORT_SCORES, in [0, 1], nan where undefined; `counted` the number of topics in each part,
    precision and recall. `sentences` is the mean per submitted answer (nan without one),
    `sentences_total` and `sentences_uncited` are sums. The other four count (sentence, segment)
    pairs; `failed` counts them on every topic, since a failure is no label that makes a topic count.
    """

    run_ids: tuple[str, ...]
    means: dict[str, Floats]
    counted: dict[str, Counts]
    sentences: Floats
    sentences_total: Counts
    sentences_uncited: Counts
    judged: Counts
    unjudged: Counts
    failed: Counts
    unjudgeable: Counts


@dataclass(frozen=True, slots=True)
class Measure:
    """How citations count in precision and recall.

    `shares`: what each of some units counts in precision, U, 0 for one that does not. In recall a sentence has their
    sum, or by `takes_best` its best one. `words`: of a choice; `text`: of a report, after how many are judged.
    """

    words: str
    text: str
    shares: Callable[[SupportSheet, Booleans], Floats]
    takes_best: bool = False


def _first(sheet: SupportSheet, units: Booleans) -> Floats:
    # Of a sentence whose first citation has no label nothing counts, whatever its others say.
    is_first: Booleans = np.diff(sheet.unit_sentence, prepend=-1) != 0
    return (units & is_first).astype(np.float64)


def _sentence(sheet: SupportSheet, units: Booleans) -> Floats:
    number = np.bincount(sheet.unit_sentence[units], minlength=len(sheet.sentence_answer))
    shares: Floats = units / np.maximum(number[sheet.unit_sentence], 1)
    return shares


def _pooled(_sheet: SupportSheet, units: Booleans) -> Floats:
    return units.astype(np.float64)


MEASURES: Final = {
    SupportMeasure.FIRST: Measure(
        "the first one of each sentence",
        "The first citation of each sentence counts: the published measure.",
        _first,
    ),
    SupportMeasure.SENTENCE: Measure(
        "the mean of each sentence",
        "A sentence counts by the mean of its judged citations; the published measure is of the first one.",
        _sentence,
    ),
    SupportMeasure.POOLED: Measure(
        "every one, in recall the best of each sentence",
        "Every judged citation counts, in recall the best of each sentence; the published measure is of the first one.",
        _pooled,
        takes_best=True,
    ),
}


def answer_support(sheet: SupportSheet, policies: SupportPolicies) -> AnswerSupport:
    """Weighted precision and recall of every answer (Thakur et al. 2025, evaluation metrics).

    A pair without a label leaves precision's denominator, and a cited sentence of which nothing counts
    leaves recall's; an uncited sentence always stays there. An answer without a sentence has recall
    0. A run that cites in the condition's topics but has no label in them has no scores.
    """
    measure = MEASURES[policies.measure]
    shares = measure.shares(sheet, sheet.unit_label >= 0)
    judged = _pairs(sheet, shares > 0) > 0
    cites = per_answer(sheet, sheet.sentence_answer[sheet.cited]) > 0
    # A condition is judged topic by topic: the topics with a label are those that its scores are over.
    labelled: Booleans = np.any(judged, axis=1)
    topics = labelled if labelled.any() else np.ones_like(labelled)
    uncited = per_answer(sheet, sheet.sentence_answer[~sheet.cited])
    # Such a run needs no label: its precision is undefined, and its recall is 0 by rule.
    never_cites = _any_by_run(sheet, sheet.answered[topics]) & ~_any_by_run(sheet, cites[topics])
    scored = labelled[:, np.newaxis] & (_any_by_run(sheet, judged) | never_cites)[sheet.column_run]
    missing = sheet.samples[:, sheet.column_run] == 0
    lenient = points_in(sheet.unit_label, CITATION_POINTS).astype(np.int64)
    strict = np.where(lenient == FULL_POINTS, lenient, 0)
    scores = {}
    for name in SUPPORT_SCORES:
        score = BY_NAME[name]
        points = strict if score.strict else lenient
        if score.part == "recall":
            values = _recall(sheet, measure, shares, points)
        else:
            values = _precision(sheet, shares, points)
            if policies.no_cited == "zero":
                values[~cites] = 0.0
        # In this order: a run without a label has no score even under `missing zero`.
        values[~sheet.answered] = np.nan
        values[missing] = 0.0 if policies.missing == "zero" else np.nan
        values[~scored] = np.nan
        scores[name] = mean_by_run(values, sheet.column_run)
    sentences = sum_by_run(per_answer(sheet, sheet.sentence_answer), sheet.column_run)
    return AnswerSupport(scores, sentences, sum_by_run(uncited, sheet.column_run), topics)


def _any_by_run(sheet: SupportSheet, cells: Booleans) -> Booleans:
    """Runs with a cell on any topic, R."""
    return np.asarray(sum_by_run(cells, sheet.column_run).any(axis=0), dtype=np.bool_)


def run_support(sheet: SupportSheet, policies: SupportPolicies, topics: Booleans | None = None) -> RunSupport:
    """Means over the condition's topics per run, with counts; `topics` (T) restricts them further."""
    answers = answer_support(sheet, policies)
    part = np.ones_like(answers.topics) if topics is None else topics
    rows = answers.topics & part
    total, submitted = answers.sentences[rows].sum(axis=0), sheet.samples[rows].sum(axis=0)

    def pairs(units: Booleans, topics: Booleans) -> Counts:
        return sum_by_run(_pairs(sheet, units)[topics].sum(axis=0), sheet.column_run)

    return RunSupport(
        run_ids=sheet.run_ids,
        means={name: column_means(values, rows) for name, values in answers.scores.items()},
        counted={
            BY_NAME[name].part: (~np.isnan(answers.scores[name][rows])).sum(axis=0) for name in (PRECISION, RECALL)
        },
        sentences=ratio(total, submitted),
        sentences_total=total,
        sentences_uncited=answers.uncited[rows].sum(axis=0),
        judged=pairs(sheet.unit_label >= 0, rows),
        unjudged=pairs(sheet.unit_label == UNJUDGED, rows),
        failed=pairs(sheet.unit_label == FAILED, part),
        unjudgeable=pairs(sheet.unit_label == UNJUDGEABLE, rows),
    )


def support_table(sheet: SupportSheet, name: str, policies: SupportPolicies) -> ScoreTable:
    """One of SUPPORT_NAMES, ready for `agreement` and `intervals`. Raises KeyError for another name."""
    answers = answer_support(sheet, policies)
    values = (answers.scores | {SENTENCES: ratio(answers.sentences, sheet.samples)})[name]
    return ScoreTable(sheet.run_ids, sheet.topic_ids, values, answers.topics)


def _precision(sheet: SupportSheet, shares: Floats, points: Counts) -> Floats:
    """Sum of shares of points / sum of shares, T x C, nan without any. Whole numbers stay exact."""
    answer = sheet.sentence_answer[sheet.unit_sentence]
    return ratio(summed(sheet, answer, shares * points), FULL_POINTS * summed(sheet, answer, shares))


def _recall(sheet: SupportSheet, measure: Measure, shares: Floats, points: Counts) -> Floats:
    """Sum over sentences / sentences of which something counts, or that cite nothing, T x C."""
    of_sentence = np.zeros(len(sheet.sentence_answer))
    (np.maximum if measure.takes_best else np.add).at(of_sentence, sheet.unit_sentence, shares * points)
    counts = counted_sentences(sheet, shares)
    recall = ratio(
        summed(sheet, sheet.sentence_answer, of_sentence),
        FULL_POINTS * per_answer(sheet, sheet.sentence_answer[counts]),
    )
    # An answer that is there and says nothing supports nothing: 0 and not undefined.
    recall[per_answer(sheet, sheet.sentence_answer) == 0] = 0.0
    return recall


def counted_sentences(sheet: SupportSheet, shares: Floats) -> Booleans:
    """Sentences that recall is over, S: those with a unit that counts, and those that cite nothing."""
    counts = ~sheet.cited
    counts[sheet.unit_sentence[shares > 0]] = True
    return counts


def _pairs(sheet: SupportSheet, units: Booleans) -> Counts:
    """Number of the chosen units of each answer, T x C."""
    return per_answer(sheet, sheet.sentence_answer[sheet.unit_sentence[units]])


def per_answer(sheet: SupportSheet, answer: Indices) -> Counts:
    """Count per flat answer index, T x C."""
    return np.bincount(answer, minlength=sheet.answered.size).reshape(sheet.answered.shape)


def summed(sheet: SupportSheet, answer: Indices, weights: Floats) -> Floats:
    """Sum of weights per flat answer index, T x C."""
    sums = np.bincount(answer, weights, minlength=sheet.answered.size)
    return sums.astype(np.float64).reshape(sheet.answered.shape)


@dataclass(frozen=True, slots=True)
class Citing:
    """Counts of (sentence, segment) pairs by label, and of sentences; all of one shape, T x R, T or R.

    `labels`: those of each label, in the order of the scale.
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
        unsupported = [counts for counts, points in zip(self.labels, CITATION_POINTS, strict=True) if not points]
        return ratio(np.sum(unsupported, axis=0), self.judged)

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
    """Count the labels and sentences of every run on every topic, T x R."""

    def pairs(label: int) -> Counts:
        return sum_by_run(_pairs(sheet, sheet.unit_label == label), sheet.column_run)

    return Citing(
        tuple(pairs(label) for label in range(len(CITATION_POINTS))),
        *(pairs(label) for label in (UNJUDGED, FAILED, UNJUDGEABLE)),
        *(
            sum_by_run(per_answer(sheet, answer), sheet.column_run)
            for answer in (sheet.sentence_answer, sheet.sentence_answer[~sheet.cited])
        ),
    )
