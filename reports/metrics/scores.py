"""Nugget scores per answer and per run (Pradeep et al. 2024, scoring; docs/metrics.md#nugget-scores).

Each score of an answer is one float division of two exact integers, so equal fractions are equal
floats and ties stay ties.
"""

from dataclasses import dataclass

import numpy as np

from reports.metrics.arrays import Booleans, Bytes, Counts, Floats, column_means, defined, ratio
from reports.metrics.label_matrix import FAILED, FULL, OKAY, UNJUDGED, VITAL, AssignmentSheet
from reports.metrics.policies import Policies

SCORE_NAMES = ("vital_strict", "vital", "weighted_strict", "weighted", "all_strict", "all")
LENGTH = "length"
VITAL_ONLY = ("vital_strict", "vital")
WEIGHTED = ("weighted_strict", "weighted")
DOUBTS = ("missing", "unjudged", "failed", "excluded")


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Scores of every answer of a condition.

    `values` is 6 x T x R in the order of SCORE_NAMES, each in [0, 1], nan where the answer does not
    count. `lengths` is T x R in words, nan where the answer does not count. `topics` T are those with
    a nugget, `length_topics` T those that the mean length runs over. `excluded` T x R marks the
    answers that the policy `unjudged` leaves out.
    """

    values: Floats
    lengths: Floats
    topics: Booleans
    length_topics: Booleans
    excluded: Booleans

    def of(self, name: str) -> Floats:
        """One score, or `length`, T x R. Raises ValueError for a name that is no score."""
        return self.lengths if name == LENGTH else self.values[SCORE_NAMES.index(name)]

    @property
    def counted(self) -> Booleans:
        """Answers with at least one score, T x R."""
        scored: Booleans = np.any(~np.isnan(self.values), axis=0)
        return scored


@dataclass(frozen=True, slots=True)
class RunScores:
    """Scores of every run and what stands behind them; all arrays have one entry per run.

    `means` is 6 x R in [0, 1] and `length` R in words, nan where undefined. `topics` is 6 x R, the
    answers in each mean. `judged`, `failed`, `unjudged` count labels of submitted answers, `excluded`
    answers left out by policy, `missing` topics with nuggets for which the run has no answer.
    """

    run_ids: tuple[str, ...]
    means: Floats
    length: Floats
    topics: Counts
    judged: Counts
    failed: Counts
    unjudged: Counts
    excluded: Counts
    missing: Counts

    def of(self, name: str) -> Floats:
        """One score, or `length`, R. Raises ValueError for a name that is no score."""
        return self.length if name == LENGTH else self.means[SCORE_NAMES.index(name)]


@dataclass(frozen=True, slots=True)
class Spread:
    """The published tables' last rows for one score: mean over topics of the minimum, median, maximum."""

    min: float | None
    median: float | None
    max: float | None


def answer_scores(sheet: AssignmentSheet, policies: Policies) -> AnswerScores:
    values = _fractions(sheet)
    sizes, vital = sheet.nuggets_per_topic, sheet.vital_per_topic
    incomplete = _topic_sums(sheet, sheet.labels < 0) > 0
    # A missing label is no `not_support`: by default such an answer leaves the means and is counted.
    excluded = incomplete & sheet.answered & sheet.labelled & (policies.unjudged == "exclude")
    values[:, excluded] = np.nan
    values[:, ~sheet.answered] = 0.0 if policies.missing == "zero" else np.nan
    no_vital = 0.0 if policies.no_vital == "zero" else np.nan
    _fill(values, VITAL_ONLY, vital == 0, no_vital)
    _fill(values, WEIGHTED, vital + _sizes(sheet, sheet.importance == OKAY) == 0, no_vital)
    # Last, and over every policy: a topic without a nugget and a run without a label have no score at all.
    values[:, sizes == 0] = np.nan
    values[:, :, ~sheet.labelled] = np.nan
    topics = sizes > 0
    # Lengths need no nugget: where a condition has none at all, they are over every topic.
    length_topics = topics if topics.any() else np.ones_like(topics)
    return AnswerScores(values, _lengths(sheet, policies, length_topics), topics, length_topics, excluded)


def doubts(sheet: AssignmentSheet, policies: Policies) -> dict[str, Counts]:
    """Doubts about the score of every answer, each T x R: labels unjudged and failed, answers missing and excluded."""
    answers = answer_scores(sheet, policies)
    cells = sheet.answered[sheet.nugget_topic]
    doubt_counts = {
        "missing": (~sheet.answered).astype(np.int64),
        "unjudged": _topic_sums(sheet, cells & (sheet.labels == UNJUDGED)),
        "failed": _topic_sums(sheet, cells & (sheet.labels == FAILED)),
        "excluded": answers.excluded.astype(np.int64),
    }
    return {name: np.where(answers.topics[:, np.newaxis], counts, 0) for name, counts in doubt_counts.items()}


def run_scores(sheet: AssignmentSheet, policies: Policies, topics: Booleans | None = None) -> RunScores:
    """Mean over topics per run (Pradeep et al. 2024, scoring).

    `topics` (T) restricts everything to a part of the topics, for example those common to two
    conditions. A run without labels has nan scores and still its length.
    """
    answers = answer_scores(sheet, policies)
    part = np.ones_like(answers.topics) if topics is None else topics
    rows = answers.topics & part
    has_value = ~np.isnan(answers.values[:, rows])
    cells = sheet.answered[sheet.nugget_topic] & rows[sheet.nugget_topic, np.newaxis]
    return RunScores(
        run_ids=sheet.run_ids,
        means=np.stack([column_means(score, rows) for score in answers.values]),
        length=column_means(answers.lengths, answers.length_topics & part),
        topics=has_value.sum(axis=1),
        judged=(cells & (sheet.labels >= 0)).sum(axis=0),
        failed=(cells & (sheet.labels == FAILED)).sum(axis=0),
        unjudged=(cells & (sheet.labels == UNJUDGED)).sum(axis=0),
        excluded=answers.excluded[rows].sum(axis=0),
        missing=(~sheet.answered[rows]).sum(axis=0),
    )


def summary(sheet: AssignmentSheet, policies: Policies, runs: Booleans) -> dict[str, Spread]:
    """Mean over topics of each topic's minimum, median and maximum over runs, per score and length.

    `runs` (R) leaves out the organizers' controls; runs without labels are left out too, unless no
    run has any (then only the length has a spread). None where no topic has a value.
    """
    answers = answer_scores(sheet, policies)
    # The published tables close without the organizers' controls, which would widen every spread.
    columns = runs & sheet.labelled if sheet.labelled.any() else runs
    spreads = {name: _spread(answers.of(name)[answers.topics][:, columns]) for name in SCORE_NAMES}
    return spreads | {LENGTH: _spread(answers.lengths[answers.length_topics][:, columns])}


def _fractions(sheet: AssignmentSheet) -> Floats:
    """The six scores with every missing label as 0, 6 x T x R; nan where the denominator is 0."""
    full, points = sheet.labels == FULL, np.maximum(sheet.labels, 0)  # from 0 to FULL
    vital, okay = sheet.importance == VITAL, sheet.importance == OKAY
    vitals, okays = _sizes(sheet, vital)[:, np.newaxis], _sizes(sheet, okay)[:, np.newaxis]
    every = sheet.nuggets_per_topic[:, np.newaxis]
    vital_full, okay_full = _topic_sums(sheet, full, vital), _topic_sums(sheet, full, okay)
    vital_points, okay_points = _topic_sums(sheet, points, vital), _topic_sums(sheet, points, okay)
    # An okay nugget weighs half a vital one: both sides are doubled to stay whole numbers.
    return np.stack(
        [
            ratio(vital_full, vitals),
            ratio(vital_points, FULL * vitals),
            ratio(2 * vital_full + okay_full, 2 * vitals + okays),
            ratio(2 * vital_points + okay_points, FULL * (2 * vitals + okays)),
            ratio(_topic_sums(sheet, full), every),
            ratio(_topic_sums(sheet, points), FULL * every),
        ]
    )


def _topic_sums(sheet: AssignmentSheet, cells: Booleans | Bytes, nuggets: Booleans | None = None) -> Counts:
    """Sum N x R cells over the (chosen) nuggets of each topic, T x R."""
    part = slice(None) if nuggets is None else nuggets
    topic = sheet.nugget_topic[part]
    sums = np.zeros((len(sheet.topic_ids), len(sheet.run_ids)), dtype=np.int64)
    present, starts = np.unique(topic, return_index=True)
    sums[present] = np.add.reduceat(cells[part], starts, axis=0, dtype=np.int64)
    return sums


def _sizes(sheet: AssignmentSheet, nuggets: Booleans) -> Counts:
    """Number of the chosen nuggets of each topic, T."""
    return np.bincount(sheet.nugget_topic[nuggets], minlength=len(sheet.topic_ids))


def _fill(values: Floats, names: tuple[str, ...], topics: Booleans, value: float) -> None:
    """Set scores where their denominator is empty, leaving cells that another policy left out."""
    for name in names:
        # `all` has a denominator wherever there is a nugget, so nan there is another policy's doing.
        score = values[SCORE_NAMES.index(name)]
        out = np.isnan(values[SCORE_NAMES.index("all")])
        score[topics] = np.where(out[topics], np.nan, value)


def _lengths(sheet: AssignmentSheet, policies: Policies, topics: Booleans) -> Floats:
    """Words per answer, T x R, nan outside the topics and where a missing answer is skipped."""
    absent = 0.0 if policies.missing == "zero" else np.nan
    lengths = np.where(sheet.answered, sheet.words.astype(np.float64), absent)
    lengths[~topics] = np.nan
    return lengths


def _spread(values: Floats) -> Spread:
    """Spread of a topics x runs matrix, topics without any value left out."""
    rows = values[~np.isnan(values).all(axis=1)]
    if not rows.size:
        return Spread(None, None, None)
    low, middle, high = np.nanmin(rows, axis=1), np.nanmedian(rows, axis=1), np.nanmax(rows, axis=1)
    return Spread(*(defined(float(part.mean())) for part in (low, middle, high)))


def on_front(lengths: Floats, scores: Floats) -> Booleans:
    """Return the runs that no other run beats: none is at most as long and scores at least as much, and differs.

    R each; a run whose length or score is nan is never on the front and beats nobody.
    """
    has_figures = ~np.isnan(lengths) & ~np.isnan(scores)
    front: Booleans = np.zeros(len(lengths), dtype=np.bool_)
    best = -np.inf
    for length in np.unique(lengths[has_figures]):
        same = has_figures & (lengths == length)
        top = scores[same].max()
        if top > best:  # from the shortest on: who is longer must score more
            front |= same & (scores == top)
            best = top
    return front
