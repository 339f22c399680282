"""Relevance by an LLM."""

from typing import Any, ClassVar

from evaluation.domain.grades import check_source
from llmjobs.job_plan import JobPlan
from llmjobs.job_service import JobRequest, Work, plan_relevance
from organizer.management.llm import LlmCommand


class Command(LlmCommand):
    help = "Have an LLM grade segments that a source has not graded: those cited, and those others graded."
    example = "manage.py judge_relevance --campaign rag24 --source UMBRELA --wait"
    work = Work.RELEVANCE
    own_options: ClassVar = {
        "--source": {"required": True, "metavar": "NAME", "help": "under which name its grades go"}
    }

    def plan(self, request: JobRequest, options: dict[str, Any]) -> JobPlan:
        return plan_relevance(request, source=check_source(options["source"]))
