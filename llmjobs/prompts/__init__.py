"""What an LLM is asked, in our own words: one versioned template per task."""

from llmjobs.prompts.forms import ReplyForm, form_of
from llmjobs.prompts.template import NO_TEXTS, Message, PromptTask, Template, TopicTexts, Value, render
from llmjobs.prompts.texts import (
    ASSIGN,
    BUILT_IN,
    FIRST_LINES,
    IMPORTANCE,
    NUGGETIZE,
    RELEVANCE,
    SUPPORT,
    TEMPLATES,
    WITH_TEXTS,
)

__all__ = [
    "ASSIGN",
    "BUILT_IN",
    "FIRST_LINES",
    "IMPORTANCE",
    "NO_TEXTS",
    "NUGGETIZE",
    "RELEVANCE",
    "SUPPORT",
    "TEMPLATES",
    "WITH_TEXTS",
    "Message",
    "PromptTask",
    "ReplyForm",
    "Template",
    "TopicTexts",
    "Value",
    "form_of",
    "render",
]
