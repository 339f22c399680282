"""Statistics of nugget sets and labels before any score (Pradeep et al. 2025, descriptive statistics)."""

from dataclasses import dataclass

import numpy as np

from reports.metrics.arrays import Booleans, Bytes, Counts, Floats, Indices, ratio, share
from reports.metrics.label_matrix import LABEL_COUNT, NUGGET_POINTS, OKAY, UNKNOWN, VITAL, AssignmentSheet

STEPS = ("nobody", "up to 25 %", "up to 50 %", "up to 75 %", "below 100 %", "everybody")


def nugget_statistics(
    listed: Booleans, nugget_topic: Indices, importance: Bytes, words: Indices
) -> dict[str, float | None]:
    """Describe one nugget set: `listed` T, and one entry per nugget in the other three (words: `word_count`).

    Topics are those with a list, and nuggets per topic are over all lists; words, and shares by importance, are over
    nuggets; None where there is nothing to divide by. Raises ValueError where the three differ in length.
    """
    if not len(nugget_topic) == len(importance) == len(words):
        raise ValueError("one topic, importance and word count per nugget expected")
    topics, nuggets = int(np.count_nonzero(listed)), len(nugget_topic)
    return {
        "topics": topics,
        # A topic whose assessor found nothing has an empty list: it counts in the mean of nuggets per topic.
        "nuggets_per_topic": share(nuggets, topics),
        "words_per_nugget": share(int(words.sum()), nuggets),
        "vital": share(int((importance == VITAL).sum()), nuggets),
        "okay": share(int((importance == OKAY).sum()), nuggets),
        "unknown": share(int((importance == UNKNOWN).sum()), nuggets),
    }


def label_shares(labels: Bytes) -> tuple[int, list[float | None]]:
    """Return how many labels were given, negative cells (any shape) left out, and the share of each, by its code."""
    counts = [int((labels == value).sum()) for value in range(LABEL_COUNT)]
    return sum(counts), [share(count, sum(counts)) for count in counts]


def word_count(text: str) -> int:
    """Whitespace words of a text, as for the length of answers."""
    return len(text.split())


@dataclass(frozen=True, slots=True)
class NuggetFindings:
    """Findings of each nugget in the runs' answers; all arrays N, counts of answers.

    `labels`: those of each label, in the order of the codes. `unjudged` counts answers of runs that take part in the
    condition without a label of the nugget, failed ones among them. `share` is full / judged, nan where nothing
    is judged.
    """

    labels: tuple[Counts, ...]
    unjudged: Counts
    share: Floats

    @property
    def judged(self) -> Counts:
        judged: Counts = np.sum(self.labels, axis=0)
        return judged

    @property
    def partial(self) -> Counts:
        """Labels with some of the points, and not all of them."""
        return self.judged - self.without_points - self.labels[-1]

    @property
    def without_points(self) -> Counts:
        by_label = zip(self.labels, NUGGET_POINTS, strict=True)
        without: Counts = np.sum([counts for counts, points in by_label if not points], axis=0)
        return without

    @property
    def nobody(self) -> Booleans:
        """Nuggets that no judged answer has, not even in part, N."""
        nobody: Booleans = (self.judged > 0) & (self.without_points == self.judged)
        return nobody

    @property
    def everybody(self) -> Booleans:
        """Nuggets that every judged answer has in full, N."""
        everybody: Booleans = (self.judged > 0) & (self.labels[-1] == self.judged)
        return everybody


def nugget_findings(sheet: AssignmentSheet) -> NuggetFindings:
    # An answer that was never submitted is no answer that lacks a nugget.
    there = sheet.answered[sheet.nugget_topic] & sheet.labelled[sheet.column_run]
    labels = tuple(((sheet.labels == value) & there).sum(axis=1, dtype=np.int64) for value in range(LABEL_COUNT))
    unjudged = ((sheet.labels < 0) & there).sum(axis=1, dtype=np.int64)
    return NuggetFindings(labels, unjudged, ratio(labels[-1], np.sum(labels, axis=0)))


def group_of(findings: NuggetFindings, nuggets: Booleans) -> dict[str, float | None]:
    """Count nuggets together, those judged among them, with means over these; None where there is none."""
    judged = nuggets & (findings.judged > 0)
    partial = ratio(findings.partial, findings.judged)
    return {
        "nuggets": int(nuggets.sum()),
        "judged": int(judged.sum()),
        "share": _mean(findings.share[judged]),
        "partial": _mean(partial[judged]),
        "nobody": int((findings.nobody & nuggets).sum()),
        "everybody": int((findings.everybody & nuggets).sum()),
    }


def share_counts(findings: NuggetFindings, nuggets: Booleans) -> Counts:
    """Count the chosen judged nuggets by the share that found them in full, by STEPS: 0, four quarters, and 1."""
    shares = findings.share[nuggets & (findings.judged > 0)]
    # `ceil`: a share of exactly 25 % is "up to 25 %". All of them is a step of its own, above the last quarter.
    quarter = np.clip(np.ceil(shares * 4).astype(np.int64), 0, 4)
    return np.bincount(np.where(shares == 1, len(STEPS) - 1, quarter), minlength=len(STEPS))


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
