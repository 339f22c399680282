"""Support of citations by an LLM."""

from typing import Any

from evaluation.domain.conditions import resolve_citations
from evaluation.terms import SupportCondition
from llmjobs.job_service import JobRequest, Work
from organizer.management.llm import RUNS, LlmCommand
from reports.files import as_table
from reports.metrics.policies import SupportPolicies
from reports.support import support_rows


class Command(LlmCommand):
    help = "Have an LLM judge whether cited segments support the sentences that cite them."
    example = "manage.py judge_support --campaign rag24 --wait"
    work = Work.SUPPORT
    own_options = RUNS

    def finish(self, request: JobRequest, options: dict[str, Any]) -> None:
        choice = resolve_citations(request.campaign, SupportCondition.LLM, judge=request.judge.name)
        self.stdout.write(as_table(support_rows(choice, SupportPolicies(choice.campaign.protocol.measure))))
