from dataclasses import replace

from evaluation.labels import CITATION_LABELS
from evaluation.stages.base import StageEntry
from evaluation.terms import PracticeKind, Stage

SCRATCH = StageEntry(
    stage=Stage.SUPPORT_SCRATCH,
    meaning="decide whether cited passages back the sentences",
    assessor_words="judge citations",  # under which condition is not told
    unit="citation label, unaided",
    practice=PracticeKind.SUPPORT,
    labels=CITATION_LABELS,
    # A pair is a sentence and a passage of some 150 words, which is skimmed; often the next pair has the same passage.
    seconds_a_label=25,
)
POST_EDIT = replace(
    SCRATCH,
    stage=Stage.SUPPORT_POST_EDIT,
    meaning="the same, with an LLM's label beside each pair",
    unit="citation label, machine label shown",
)
