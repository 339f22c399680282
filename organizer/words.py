"""How stages are called on the organizer's pages."""

from typing import Final

from evaluation.terms import Stage

STAGE_WORDS: Final = {
    Stage.POST_EDIT: "Post-edit",
    Stage.MANUAL: "By hand",
    Stage.ASSIGN: "Assign",
    Stage.SUPPORT_SCRATCH: "Support",
    Stage.SUPPORT_POST_EDIT: "Support, label shown",
}

STAGE_MEANINGS: Final = {
    Stage.POST_EDIT: "from drafts, beside the passages",
    Stage.MANUAL: "from the passages alone",
    Stage.ASSIGN: "which answers contain which nuggets of a submitted list",
    Stage.SUPPORT_SCRATCH: "whether cited passages support the sentences, from scratch",
    Stage.SUPPORT_POST_EDIT: "the same, with an LLM's label beside each pair",
}
