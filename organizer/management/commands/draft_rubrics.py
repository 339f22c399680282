"""Draft rubrics from nuggets, for post-editing."""

from typing import ClassVar

from llmjobs.job_service import Work
from organizer.management.llm import LlmCommand


class Command(LlmCommand):
    help = (
        "Make draft rubrics from nugget lists, for assessors to post-edit: a vital nugget weighs 5, an okay one 2, "
        "and an LLM adds up to three criteria a topic, on synthesis, references and clarity, of weight 2."
    )
    example = "manage.py draft_rubrics --campaign rag24 --nuggets auto-gpt-4o --wait"
    work = Work.RUBRIC
    own_options: ClassVar = {
        "--nuggets": {"default": "", "metavar": "SET", "help": "whose lists; default: the only set"}
    }
