"""The kinds of items: how each becomes a step, and how its outcome becomes labels."""

from llmjobs.kinds.assigning import Assigning
from llmjobs.kinds.base import ItemOutcome, JobItemKind, Stepping
from llmjobs.kinds.grading import Grading
from llmjobs.kinds.nuggetizing import Drafting, Nuggetizing
from llmjobs.kinds.supporting import Supporting
from llmjobs.kinds.trying import TryingAssign, TryingImportance, TryingRelevance, TryingSupport

KINDS: dict[str, JobItemKind] = {
    "assign": Assigning(),
    "nuggets": Nuggetizing(),
    "drafts": Drafting(),
    "support": Supporting(),
    "relevance": Grading(),
    "try_assign": TryingAssign(),
    "try_support": TryingSupport(),
    "try_importance": TryingImportance(),
    "try_relevance": TryingRelevance(),
}

__all__ = ["KINDS", "ItemOutcome", "JobItemKind", "Stepping"]
