from evaluation.stages.base import StageEntry
from evaluation.terms import PracticeKind, Stage

MANUAL = StageEntry(
    stage=Stage.MANUAL,
    meaning="write a list from the passages alone",
    assessor_words="write nuggets",
    unit="manual nugget list",
    practice=PracticeKind.IMPORTANCE,
)
