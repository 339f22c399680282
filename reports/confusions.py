"""Two judges' labels of the same pairs, as a confusion matrix."""

from dataclasses import dataclass

import numpy as np

from reports.choices import ConditionChoice, SupportChoice, check_apart
from reports.frames import assignment_sheet, support_sheet
from reports.metrics.confusion import Confusion, confusion, harsh_conflicts
from reports.metrics.sheets import UNJUDGED

ASSIGNMENT_LABELS = ("not_support", "partial_support", "support")
SUPPORT_LABELS = ("no_support", "partial_support", "full_support")


@dataclass(frozen=True, slots=True)
class ConfusionReport:
    """A confusion of two conditions, `harsh` conflicts counted. `comparable`: they judge the same pairs at all."""

    rows: str
    columns: str
    labels: tuple[str, str, str]
    confusion: Confusion
    harsh: int
    comparable: bool


def confuse_assignments(rows: ConditionChoice, columns: ConditionChoice) -> ConfusionReport:
    """Compare labels of the same (answer, nugget) pairs: both conditions must use the same lists.

    Raises `Refused` where some labels are on both sides.
    """
    check_apart(rows, columns)
    same_set = bool(rows.grounds) and rows.grounds == columns.grounds
    left, right = (_given_labels(choice) for choice in (rows, columns))
    if not same_set:
        left = right = np.zeros(0, dtype=np.int8)
    return _report(str(rows), str(columns), ASSIGNMENT_LABELS, (left, right), same_set)


def confuse_support(rows: SupportChoice, columns: SupportChoice) -> ConfusionReport:
    """Compare labels of the same (sentence, segment) pairs. Raises `Refused` where some are on both sides."""
    check_apart(rows, columns)
    left, right = (support_sheet(choice).unit_label for choice in (rows, columns))
    return _report(str(rows), str(columns), SUPPORT_LABELS, (left, right), True)


def _given_labels(choice: ConditionChoice) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    """Return the labels somebody gave, flat: those that the rule gives to empty answers are nobody's."""
    sheet = assignment_sheet(choice)
    empty = (sheet.answered & (sheet.words == 0))[sheet.nugget_topic]
    return np.where(empty, np.int8(UNJUDGED), sheet.labels).ravel()


def _report(
    rows: str,
    columns: str,
    labels: tuple[str, str, str],
    pairs: tuple[np.ndarray[tuple[int, ...], np.dtype[np.int8]], ...],
    comparable: bool,
) -> ConfusionReport:
    left, right = pairs
    return ConfusionReport(
        rows=rows,
        columns=columns,
        labels=labels,
        confusion=confusion(left, right),
        harsh=int(harsh_conflicts(left, right).sum()),
        comparable=comparable,
    )
