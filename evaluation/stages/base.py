"""Facts that every stage declares."""

from dataclasses import dataclass

from evaluation.labels import NO_LABELS, LabelSet
from evaluation.terms import PracticeKind, Stage


@dataclass(frozen=True, slots=True)
class StageEntry:
    """One stage. `meaning` is for those who hand it out, `assessor_words` for its assessors; `unit` what is paid.

    `labels`: that people give; none where they make a list. `seconds_a_label`: about how long one takes.
    """

    stage: Stage
    meaning: str
    assessor_words: str
    unit: str
    practice: PracticeKind
    labels: LabelSet = NO_LABELS
    seconds_a_label: int = 0
