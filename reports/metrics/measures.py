"""Measures of support: which judged citations of a sentence count, and as what (docs/metrics.md#support)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.terms import SupportMeasure
from reports.metrics.arrays import Booleans, Floats
from reports.metrics.label_matrix import SupportSheet


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
