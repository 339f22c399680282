"""What an LLM is asked, in our own words: one versioned template per task."""

from llmjobs.prompts.forms import Form, form_of
from llmjobs.prompts.template import Message, Task, Template, Value, render
from llmjobs.prompts.texts import ASSIGN, FIRST_LINES, IMPORTANCE, NUGGETIZE, RELEVANCE, SUPPORT, TEMPLATES

__all__ = [
    "ASSIGN",
    "FIRST_LINES",
    "IMPORTANCE",
    "NUGGETIZE",
    "RELEVANCE",
    "SUPPORT",
    "TEMPLATES",
    "Form",
    "Message",
    "Task",
    "Template",
    "Value",
    "form_of",
    "render",
]
