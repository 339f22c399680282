"""Relevance by an LLM."""

from typing import ClassVar

from llmjobs.job_service import Work
from organizer.management.llm import LlmCommand


class Command(LlmCommand):
    help = "Have an LLM grade segments that a source has not graded: those cited, and those others graded."
    example = "manage.py judge_relevance --campaign rag24 --source UMBRELA --wait"
    work = Work.RELEVANCE
    own_options: ClassVar = {
        "--source": {"required": True, "metavar": "NAME", "help": "under which name its grades go"}
    }
