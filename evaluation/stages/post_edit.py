from evaluation.stages.base import StageEntry
from evaluation.terms import PracticeKind, Stage

POST_EDIT = StageEntry(
    stage=Stage.POST_EDIT,
    meaning="decide on an LLM's drafts, beside the passages",
    assessor_words="edit drafts",
    unit="edited nugget list",
    practice=PracticeKind.IMPORTANCE,
)
