"""Over-generated drafts for post-editing."""

from typing import ClassVar

from llmjobs.job_service import Work
from organizer.management.llm import LlmCommand


class Command(LlmCommand):
    help = "Have an LLM draft up to 30 nuggets a topic, without importance, for assessors to post-edit."
    example = "manage.py draft_nuggets --campaign rag24 --qrels NIST --wait"
    work = Work.DRAFTS
    own_options: ClassVar = {
        "--qrels": {"required": True, "metavar": "SOURCE", "help": "whose related segments are read"}
    }
