"""Weights of pairs in a run's scores: each score is a sum of w · v over the run's pairs.

Shapes as in `label_matrix`. A pair of an answer without a word has weight 0: its label is known by rule.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from reports.metrics.arrays import Booleans, Bytes, Counts, Floats, ratio, sum_by_run
from reports.metrics.label_matrix import (
    CITATION_POINTS,
    NUGGET_POINTS,
    OKAY,
    UNJUDGEABLE,
    UNKNOWN,
    VITAL,
    AssignmentSheet,
    SupportSheet,
)
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.registry import BY_NAME, Profile, Score, scores_of
from reports.metrics.scores import IMPORTANCES, thousandths
from reports.metrics.support import MEASURES, SUPPORT_SCORES, counted_sentences, per_answer, summed

PLACES: Final = np.argsort(IMPORTANCES)
"""Where the share of each code of importance stands."""


def values_of(score: str) -> Floats:
    """Values of labels in a score, K."""
    points = CITATION_POINTS if BY_NAME[score].is_of(Profile.CITATIONS) else NUGGET_POINTS
    return strict_values(points) if BY_NAME[score].strict else lenient_values(points)


def strict_values(points: Bytes) -> Floats:
    values: Floats = (points == points[-1]).astype(np.float64)
    return values


def lenient_values(points: Bytes) -> Floats:
    values: Floats = points / points[-1]
    return values


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """Weights of all pairs in one score, N x C or U; `counted` T x R, the topics of each run's mean."""

    weights: Floats
    counted: Booleans


def nugget_weights(sheet: AssignmentSheet, policies: Policies) -> dict[str, ScoreWeights]:
    """Weights of each nugget in each answer, by score; of a rubric those below 0 are of what must not be said."""
    scores = [score for score in scores_of(policies.profile) if score.is_fraction]
    by_shares = {score.shares: _shared(sheet, _counts(sheet, score), policies) for score in scores}
    return {score.name: by_shares[score.shares] for score in scores}


def _counts(sheet: AssignmentSheet, score: Score) -> Floats:
    """Weight of each nugget among those of its list, N."""
    if score.by_weight:
        return thousandths(sheet).astype(np.float64)
    return np.array(score.shares, dtype=np.float64)[PLACES[sheet.importance]]


def _shared(sheet: AssignmentSheet, share: Floats, policies: Policies) -> ScoreWeights:
    whole = np.bincount(sheet.nugget_topic, np.maximum(share, 0), minlength=len(sheet.topic_ids))
    by_importance = policies.profile is Profile.TREC_RAG
    topics = sheet.scorable if by_importance and policies.no_vital == "zero" else whole > 0
    samples, columns = sheet.samples, sheet.column_run
    counted = topics[:, np.newaxis] & ((samples > 0) | (policies.missing == "zero"))
    # Each sample has its share of its run's score on the topic.
    of_answer = ratio(ratio(np.ones(len(sheet.run_ids)), counted.sum(axis=0)), np.maximum(samples, 1))
    part = np.nan_to_num(ratio(share, whole[sheet.nugget_topic]))
    cells = (sheet.answered & (sheet.words > 0) & counted[:, columns])[sheet.nugget_topic]
    shares = np.nan_to_num(of_answer)[:, columns][sheet.nugget_topic]
    return ScoreWeights(np.where(cells, part[:, np.newaxis] * shares, 0.0), counted)


def support_weights(sheet: SupportSheet, policies: SupportPolicies) -> dict[str, ScoreWeights]:
    """Weights of each pair of sentence and citation in precision and recall, as if people judged all of them."""
    parts, measured = judgeable_shares(sheet, policies), MEASURES[policies.measure].shares
    answer = sheet.sentence_answer[sheet.unit_sentence]
    pairs = summed(sheet, answer, parts)
    sentences = per_answer(sheet, sheet.sentence_answer[counted_sentences(sheet, parts)])
    silent = per_answer(sheet, sheet.sentence_answer) == 0
    labelled = per_answer(sheet, answer[measured(sheet, sheet.unit_label >= 0) > 0]).any(axis=1, keepdims=True)
    absent = (sheet.samples == 0) & (policies.missing == "zero")
    cites = per_answer(sheet, sheet.sentence_answer[sheet.cited]) > 0
    precise = (pairs > 0) | (~cites if policies.no_cited == "zero" else False)
    weights = {}
    for part, sizes, defined in (("precision", pairs, precise), ("recall", sentences, (sentences > 0) | silent)):
        counts = labelled & defined & sheet.answered
        samples = sum_by_run(counts, sheet.column_run)
        counted = (samples > 0) | (labelled & absent)
        # Each sample has its share of its run's score on the topic.
        topics = (counted.sum(axis=0) * samples)[:, sheet.column_run]
        share = ratio(np.ones_like(sizes), sizes * topics).reshape(-1)[answer]
        in_score = (parts > 0) & counts.reshape(-1)[answer]
        weights[part] = ScoreWeights(np.where(in_score, parts * share, 0.0), counted)
    return {name: weights[BY_NAME[name].part] for name in SUPPORT_SCORES}


def judgeable_shares(sheet: SupportSheet, policies: SupportPolicies) -> Floats:
    """Weight of each unit in the score if people judged all of them, U; 0 for one without a place in it."""
    return MEASURES[policies.measure].shares(sheet, sheet.unit_label != UNJUDGEABLE)


def rubric_sizes(sheet: AssignmentSheet) -> Floats:
    """Sizes of all pairs for the draw, N x C: their weights in `rubric`, policies by default."""
    return nugget_weights(sheet, Policies(profile=Profile.RUBRIC))["rubric"].weights


def nugget_sizes(sheet: AssignmentSheet) -> Floats:
    """Sizes x of all pairs for the draw, N x C: their weights in `weighted`, policies by default.

    A nugget of unknown importance is drawn like an okay one of its list, because it weighs as much in `all`: by a
    tiny x it would be drawn rarely and stand for many.
    """
    sizes = nugget_weights(sheet, Policies())["weighted"].weights
    okay_like = replace(sheet, importance=np.maximum(sheet.importance, OKAY).astype(np.int8))
    whole = _weighted_size(sheet)[sheet.nugget_topic, np.newaxis]
    ratio_of_lists = ratio(_weighted_size(okay_like)[sheet.nugget_topic, np.newaxis], whole)
    unknown = nugget_weights(okay_like, Policies())["weighted"].weights * np.nan_to_num(ratio_of_lists)
    return np.where(sheet.importance[:, np.newaxis] == UNKNOWN, unknown, sizes)


def _weighted_size(sheet: AssignmentSheet) -> Floats:
    share = (sheet.importance == VITAL) + (sheet.importance == OKAY) / 2
    whole: Floats = np.bincount(sheet.nugget_topic, share, minlength=len(sheet.topic_ids)).astype(np.float64)
    return whole


def drawable_sizes(run: Counts, sizes: Floats) -> Floats:
    """Sizes of P pairs, and where one is 0 the least in its run, of either sign."""
    least = np.full(int(run.max(initial=0)) + 1, np.inf)
    weighing = sizes != 0
    np.minimum.at(least, run[weighing], np.abs(sizes[weighing]))
    # A run without a weighing pair is drawn with equal chances.
    least[np.isinf(least)] = 1.0
    return np.where(weighing, sizes, least[run])
