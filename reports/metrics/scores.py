"""Nugget scores per answer and per run (Pradeep et al. 2024, scoring; docs/metrics.md#nugget-scores).

Each score of an answer is one float division of two exact integers, so equal fractions are equal
floats and ties stay ties.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from reports.metrics.arrays import (
    Booleans,
    Bytes,
    Counts,
    Floats,
    column_means,
    defined,
    mean_by_run,
    ratio,
    sum_by_run,
)
from reports.metrics.label_matrix import (
    FAILED,
    NUGGET_POINTS,
    OKAY,
    UNJUDGED,
    UNKNOWN,
    VITAL,
    AssignmentSheet,
    points_in,
)
from reports.metrics.policies import Policies
from reports.metrics.registry import LENGTH, Profile, Score, names_of, scores_of

FULL_POINTS = int(NUGGET_POINTS[-1])
SCORE_NAMES = names_of(Profile.TREC_RAG)
IMPORTANCES = (VITAL, OKAY, UNKNOWN)
"""In the order of the shares of scores."""
Spread = dict[str, float | None]
DOUBTS = ("missing", "unjudged", "failed", "excluded")


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Scores of every run on every topic of a condition: of its answer, or the mean over its samples.

    `values` is S x T x R in the order of `names`, nan where no answer counts. `lengths` is T x R in words,
    nan where no answer counts. `topics` T are those with a nugget, `length_topics` T those that the mean
    length runs over. `excluded` T x R counts the answers that the policy `unjudged` leaves out.
    """

    names: tuple[str, ...]
    values: Floats
    lengths: Floats
    topics: Booleans
    length_topics: Booleans
    excluded: Counts

    def of(self, name: str) -> Floats:
        """One score, or `length`, T x R. Raises ValueError for a name that is no score."""
        return self.lengths if name == LENGTH else self.values[self.names.index(name)]

    @property
    def counted(self) -> Booleans:
        """Cells with at least one score, T x R."""
        scored: Booleans = np.any(~np.isnan(self.values), axis=0)
        return scored


@dataclass(frozen=True, slots=True)
class RunScores:
    """Scores of every run and what stands behind them; all arrays have one entry per run.

    `means` is S x R in the order of `names` and `length` R in words, nan where undefined. `topics` is S x R, the
    topics in each mean. `judged`, `failed`, `unjudged` count labels of submitted answers, `excluded`
    answers left out by policy, `missing` topics with nuggets for which the run has no answer.
    """

    run_ids: tuple[str, ...]
    names: tuple[str, ...]
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
        return self.length if name == LENGTH else self.means[self.names.index(name)]


def answer_scores(sheet: AssignmentSheet, policies: Policies) -> AnswerScores:
    """Return the scores of the policies' profile. A sheet holds the nuggets that this profile counts."""
    values, sizes = _values(sheet, policies.profile), sheet.nuggets_per_topic
    incomplete = _topic_sums(sheet, sheet.labels < 0) > 0
    # A missing label is no `not_support`: by default such an answer leaves the means and is counted.
    labelled = sheet.labelled[sheet.column_run]
    excluded = incomplete & sheet.answered & labelled & (policies.unjudged == "exclude")
    # A missing answer that counts has met nothing, and missed what is mandatory: so `_values` has it.
    left_out = excluded | _without_sample(sheet, policies)
    values[:, left_out] = np.nan
    if policies.profile is Profile.TREC_RAG:
        # Where nothing of the topic counts, but for cells that another policy left out.
        empty = (_wholes(sheet) == 0)[:, :, np.newaxis] & ~left_out
        values[empty] = 0.0 if policies.no_vital == "zero" else np.nan
    # Last, and over every policy: a topic without a nugget and a run without a label have no score at all.
    values[:, sizes == 0] = np.nan
    values[:, :, ~labelled] = np.nan
    topics = sizes > 0
    # Lengths need no nugget: where a condition has none at all, they are over every topic.
    length_topics = topics if topics.any() else np.ones_like(topics)
    names = names_of(policies.profile)
    return AnswerScores(
        names=names,
        values=mean_by_run(values, sheet.column_run),
        lengths=mean_by_run(_lengths(sheet, policies, length_topics), sheet.column_run),
        topics=topics,
        length_topics=length_topics,
        excluded=sum_by_run(excluded, sheet.column_run),
    )


def _without_sample(sheet: AssignmentSheet, policies: Policies) -> Booleans:
    """Cells without an answer that do not count as one, T x C: that of a sample, where the run has another."""
    missing: Booleans = sheet.samples[:, sheet.column_run] == 0
    return ~sheet.answered & (~missing | np.bool_(policies.missing == "skip"))


def doubts(sheet: AssignmentSheet, policies: Policies) -> dict[str, Counts]:
    """Doubts about a run's score on a topic, each T x R: labels unjudged and failed, answers missing and excluded."""
    answers = answer_scores(sheet, policies)
    cells = sheet.answered[sheet.nugget_topic]
    doubt_counts = {
        "missing": (sheet.samples == 0).astype(np.int64),
        "unjudged": sum_by_run(_topic_sums(sheet, cells & (sheet.labels == UNJUDGED)), sheet.column_run),
        "failed": sum_by_run(_topic_sums(sheet, cells & (sheet.labels == FAILED)), sheet.column_run),
        "excluded": answers.excluded,
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
        names=answers.names,
        means=np.stack([column_means(score, rows) for score in answers.values]),
        length=column_means(answers.lengths, answers.length_topics & part),
        topics=has_value.sum(axis=1),
        judged=sum_by_run((cells & (sheet.labels >= 0)).sum(axis=0), sheet.column_run),
        failed=sum_by_run((cells & (sheet.labels == FAILED)).sum(axis=0), sheet.column_run),
        unjudged=sum_by_run((cells & (sheet.labels == UNJUDGED)).sum(axis=0), sheet.column_run),
        excluded=answers.excluded[rows].sum(axis=0),
        missing=(sheet.samples[rows] == 0).sum(axis=0),
    )


def summary(sheet: AssignmentSheet, policies: Policies, runs: Booleans) -> dict[str, Spread]:
    """Mean over topics of each topic's minimum, median and maximum over runs, per score and length.

    They are the last rows of the published tables. `runs` (R) leaves out the organizers' controls; runs without labels
    are left out too, unless no run has any (then only the length has a spread). None where no topic has a value.
    """
    answers = answer_scores(sheet, policies)
    # The published tables close without the organizers' controls, which would widen every spread.
    columns = runs & sheet.labelled if sheet.labelled.any() else runs
    spreads = {name: _spread(answers.of(name)[answers.topics][:, columns]) for name in answers.names}
    return spreads | {LENGTH: _spread(answers.lengths[answers.length_topics][:, columns])}


def _values(sheet: AssignmentSheet, profile: Profile) -> Floats:
    """The scores with every missing label as 0, S x T x C; nan where the denominator is 0."""
    labels = np.where(sheet.answered[sheet.nugget_topic], sheet.labels, UNJUDGED)
    points = points_in(labels, NUGGET_POINTS)
    full = points == FULL_POINTS
    if profile is Profile.RUBRIC:
        return _by_weight(sheet, points, full)
    parts = [sheet.importance == code for code in IMPORTANCES]
    sums = [[_topic_sums(sheet, cells, part) for part in parts] for cells in (points, full)]
    wholes, scores = _wholes(sheet)[:, :, np.newaxis], scores_of(profile)
    # Shares are whole numbers, so that both sides of each division are.
    return np.stack(
        [
            ratio(_shared(score, sums[score.strict]), whole if score.strict else FULL_POINTS * whole)
            for score, whole in zip(scores, wholes, strict=True)
        ]
    )


def _by_weight(sheet: AssignmentSheet, points: Bytes, full: Booleans) -> Floats:
    """The scores of a rubric, in the order of the registry: two quotients by weight, two numbers of faults.

    A list of which no nugget weighs anything is no rubric: it has none of them.
    """
    weights = thousandths(sheet)
    whole = np.bincount(sheet.nugget_topic, np.maximum(weights, 0), minlength=len(sheet.topic_ids))[:, np.newaxis]
    lenient, strict = (_topic_sums(sheet, weights[:, np.newaxis] * cells) for cells in (points, full))
    violations = _topic_sums(sheet, full, sheet.weight < 0)
    # Below 0 it is met by being left alone, and doing it is a violation already; at 0 it asks for nothing.
    missed = _topic_sums(sheet, ~full, (sheet.importance == VITAL) & (sheet.weight > 0))
    faults = np.stack([violations, missed]).astype(np.float64)
    faults[:, _sizes(sheet, ~np.isnan(sheet.weight)) == 0] = np.nan
    return np.stack([ratio(lenient, FULL_POINTS * whole), ratio(strict, whole), *faults])


def thousandths(sheet: AssignmentSheet) -> Counts:
    """Weights as whole numbers, N, 0 where there is none: they have at most three decimals, and sums stay exact."""
    whole: Counts = np.rint(np.nan_to_num(sheet.weight) * 1000).astype(np.int64)
    return whole


def _wholes(sheet: AssignmentSheet) -> Counts:
    """What the nuggets of each topic count together, S x T."""
    sizes = [_sizes(sheet, sheet.importance == code) for code in IMPORTANCES]
    return np.stack([_shared(score, sizes) for score in scores_of(Profile.TREC_RAG)])


def _shared(score: Score, counts: Sequence[Counts]) -> Counts:
    shared: Counts = sum(share * count for share, count in zip(score.shares, counts, strict=True))  # type: ignore[assignment]
    return shared


def _topic_sums(
    sheet: AssignmentSheet, cells: Booleans | Bytes | Counts, nuggets: Booleans | None = None
) -> Counts:
    """Sum N x C cells over the (chosen) nuggets of each topic, T x C."""
    part = slice(None) if nuggets is None else nuggets
    topic = sheet.nugget_topic[part]
    sums = np.zeros(sheet.answered.shape, dtype=np.int64)
    present, starts = np.unique(topic, return_index=True)
    sums[present] = np.add.reduceat(cells[part], starts, axis=0, dtype=np.int64)
    return sums


def _sizes(sheet: AssignmentSheet, nuggets: Booleans) -> Counts:
    """Number of the chosen nuggets of each topic, T."""
    return np.bincount(sheet.nugget_topic[nuggets], minlength=len(sheet.topic_ids))


def _lengths(sheet: AssignmentSheet, policies: Policies, topics: Booleans) -> Floats:
    """Words per answer, T x C, 0 for a missing one; nan outside the topics, and where no answer counts."""
    lengths = np.where(sheet.answered, sheet.words.astype(np.float64), 0.0)
    lengths[_without_sample(sheet, policies)] = np.nan
    lengths[~topics] = np.nan
    return lengths


def _spread(values: Floats) -> Spread:
    """Spread of a topics x runs matrix, topics without any value left out."""
    rows = values[~np.isnan(values).all(axis=1)]
    ends: dict[str, Callable[..., Floats]] = {"min": np.nanmin, "median": np.nanmedian, "max": np.nanmax}
    return {end: defined(float(of(rows, axis=1).mean())) if rows.size else None for end, of in ends.items()}


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
