"""What is asked, in which order, and what follows from the replies: pure functions without I/O.

A step is a generator: it yields what it asks, is sent replies, and returns its outcome. It depends on nothing but its
input and the replies, so one that is started again with the recorded replies goes the same way.
"""

from llmjobs.steps.asking import Ask, LlmReply, Note, Step
from llmjobs.steps.assign import AssignInput, AssignOutcome, NuggetLabel, assign
from llmjobs.steps.nuggetize import (
    Draft,
    DraftsInput,
    DraftsOutcome,
    ListNugget,
    NuggetizeInput,
    NuggetizeOutcome,
    nuggetize,
    over_generated_drafts,
)
from llmjobs.steps.relevance import RelevanceInput, RelevanceOutcome, relevance
from llmjobs.steps.support import SupportInput, SupportOutcome, support

__all__ = [
    "Ask",
    "AssignInput",
    "AssignOutcome",
    "Draft",
    "DraftsInput",
    "DraftsOutcome",
    "ListNugget",
    "LlmReply",
    "Note",
    "NuggetLabel",
    "NuggetizeInput",
    "NuggetizeOutcome",
    "RelevanceInput",
    "RelevanceOutcome",
    "Step",
    "SupportInput",
    "SupportOutcome",
    "assign",
    "nuggetize",
    "over_generated_drafts",
    "relevance",
    "support",
]
