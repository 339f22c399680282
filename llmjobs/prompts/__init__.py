"""What an LLM is asked, in our own words: one versioned template per task."""

from llmjobs.prompts.forms import Form, form_of
from llmjobs.prompts.template import NO_TEXTS, Message, Task, Template, TopicTexts, Value, render
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
    "Form",
    "Message",
    "Task",
    "Template",
    "TopicTexts",
    "Value",
    "form_of",
    "render",
]
