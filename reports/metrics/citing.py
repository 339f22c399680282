"""What stands behind precision and recall of citations: labels, and citing too much or too little.

Over-citation is the share of judged citations that give no support: they cost precision. Under-citation is the share
of sentences that cite nothing: they cost recall.
"""

from dataclasses import dataclass

import numpy as np

from reports.metrics.arrays import Booleans, Counts, Floats, Indices, ratio
from reports.metrics.sheets import FAILED, FULL, NOT, PARTIAL, UNJUDGEABLE, UNJUDGED, SupportSheet


@dataclass(frozen=True, slots=True)
class Citing:
    """Counts of (sentence, segment) pairs by label, and of sentences; all of one shape, T x R, T or R."""

    full: Counts
    partial: Counts
    none: Counts
    unjudged: Counts
    failed: Counts
    unjudgeable: Counts
    sentences: Counts
    uncited: Counts

    @property
    def judged(self) -> Counts:
        """Pairs with a label."""
        return self.full + self.partial + self.none

    @property
    def over(self) -> Floats:
        """Judged citations without support / judged citations, nan without any."""
        return ratio(self.none, self.judged)

    @property
    def under(self) -> Floats:
        """Sentences that cite nothing / sentences, nan without any."""
        return ratio(self.uncited, self.sentences)

    def summed(self, axis: int, topics: Booleans) -> "Citing":
        """Sum T x R over the chosen topics (axis 0: R) or over runs (axis 1: chosen topics)."""
        return Citing(*(getattr(self, name)[topics].sum(axis=axis) for name in NAMES))


NAMES = ("full", "partial", "none", "unjudged", "failed", "unjudgeable", "sentences", "uncited")


def citing(sheet: SupportSheet) -> Citing:
    """Count the labels and sentences of every answer, T x R."""
    answer = sheet.sentence_answer[sheet.unit_sentence]
    by_label = {
        label: _counts(sheet, answer[sheet.unit_label == label])
        for label in (FULL, PARTIAL, NOT, UNJUDGED, FAILED, UNJUDGEABLE)
    }
    return Citing(
        full=by_label[FULL],
        partial=by_label[PARTIAL],
        none=by_label[NOT],
        unjudged=by_label[UNJUDGED],
        failed=by_label[FAILED],
        unjudgeable=by_label[UNJUDGEABLE],
        sentences=_counts(sheet, sheet.sentence_answer),
        uncited=_counts(sheet, sheet.sentence_answer[~sheet.cited]),
    )


def _counts(sheet: SupportSheet, answers: Indices) -> Counts:
    return np.bincount(answers, minlength=sheet.answered.size).reshape(sheet.answered.shape)
