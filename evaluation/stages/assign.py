from evaluation.labels import NUGGET_LABELS
from evaluation.stages.base import StageEntry
from evaluation.terms import PracticeKind, Stage

ASSIGN = StageEntry(
    stage=Stage.ASSIGN,
    meaning="decide which nuggets of a submitted list each answer says",
    assessor_words="label answers",
    unit="nugget label",
    practice=PracticeKind.ASSIGN,
    labels=NUGGET_LABELS,
    # 45 answers by 14 to 20 nuggets in about two hours are 8 to 11 seconds a label.
    seconds_a_label=9,
)
