"""Over-generated drafts for post-editing."""

from typing import Any, ClassVar

from llmjobs.job_plan import JobPlan
from llmjobs.job_service import JobRequest, Work, plan_drafts
from organizer.management.llm import LlmCommand


class Command(LlmCommand):
    help = "Have an LLM draft up to 30 nuggets a topic, without importance, for assessors to post-edit."
    example = "manage.py draft_nuggets --campaign rag24 --qrels NIST --wait"
    work = Work.DRAFTS
    own_options: ClassVar = {
        "--qrels": {"required": True, "metavar": "SOURCE", "help": "whose related segments are read"}
    }

    def plan(self, request: JobRequest, options: dict[str, Any]) -> JobPlan:
        return plan_drafts(request, qrels=options["qrels"])
