"""Samples, several answers of one run to a topic: how alike they are labelled and scored (docs/metrics.md#samples).

All figures are over the topics of which a run has several samples.
"""

from dataclasses import replace

import numpy as np

from reports.metrics.arrays import Booleans, Counts, Floats, column_means, mean_by_run, ratio, sum_by_run
from reports.metrics.label_matrix import LABEL_COUNT, AssignmentSheet
from reports.metrics.policies import Policies
from reports.metrics.registry import BY_NAME
from reports.metrics.scores import answer_scores


def sample_figures(
    sheet: AssignmentSheet, policies: Policies, score: str, threshold: float
) -> dict[str, Counts | Floats]:
    """Return figures of every run by one score, R each, nan where undefined. Raises ValueError for no score.

    `topics` with several samples, `samples` on them; `mean`, `sd`: means over topics of the mean and of the standard
    deviation (n - 1) of the samples' scores; `consistency`: in [0, 1]; `pass_all`: share of topics.
    """
    values = np.where(sheet.answered, answer_scores(_apart(sheet), policies).of(score), np.nan)
    several = (sheet.samples > 1) & sheet.scorable[:, np.newaxis] & sheet.labelled
    every = np.ones(len(sheet.topic_ids), dtype=np.bool_)

    def over_topics(figures: Floats) -> Floats:
        return column_means(np.where(several, figures, np.nan), every)

    means = mean_by_run(values, sheet.column_run)
    return {
        "topics": several.sum(axis=0),
        "samples": np.where(several, sheet.samples, 0).sum(axis=0),
        "mean": over_topics(means),
        "sd": over_topics(_deviations(values, means, sheet)),
        "consistency": over_topics(_agreement(sheet)),
        "pass_all": over_topics(_pass_all(values, score, threshold, sheet)),
    }


def _apart(sheet: AssignmentSheet) -> AssignmentSheet:
    """The sheet with each column as a run of its own."""
    return replace(
        sheet,
        run_ids=tuple(sheet.run_ids[run] for run in sheet.column_run),
        column_run=np.arange(len(sheet.column_run), dtype=np.int32),
        labelled=sheet.labelled[sheet.column_run],
    )


def _deviations(values: Floats, means: Floats, sheet: AssignmentSheet) -> Floats:
    """Standard deviation over the samples that have a score, T x R; nan of less than two."""
    scored = sum_by_run(~np.isnan(values), sheet.column_run)
    squares = mean_by_run((values - means[:, sheet.column_run]) ** 2, sheet.column_run)
    deviations: Floats = np.sqrt(ratio(np.nan_to_num(squares) * scored, np.maximum(scored - 1, 0)))
    return deviations


def _agreement(sheet: AssignmentSheet) -> Floats:
    """Share of pairs of samples with one label, mean over nuggets with two labels, T x R; nan without any."""
    counts = [sum_by_run(sheet.labels == label, sheet.column_run) for label in range(LABEL_COUNT)]
    by_nugget = ratio(sum(map(_pairs, counts)), _pairs(np.sum(counts, axis=0)))  # type: ignore[arg-type]
    sums, numbers = np.zeros((2, *sheet.samples.shape))
    np.add.at(sums, sheet.nugget_topic, np.nan_to_num(by_nugget))
    np.add.at(numbers, sheet.nugget_topic, ~np.isnan(by_nugget))
    return ratio(sums, numbers)


def _pairs(counts: Counts) -> Counts:
    pairs: Counts = counts * (counts - 1) // 2
    return pairs


def _pass_all(values: Floats, score: str, threshold: float, sheet: AssignmentSheet) -> Floats:
    """1 where all samples reach the threshold, T x R, and 0 where one does not; nan where one has no score."""
    passes: Booleans = values <= threshold if BY_NAME[score].lower_is_better else values >= threshold
    scored = sum_by_run(~np.isnan(values), sheet.column_run)
    all_pass = sum_by_run(passes, sheet.column_run) == sheet.samples
    return np.where(scored == sheet.samples, all_pass, np.nan)
