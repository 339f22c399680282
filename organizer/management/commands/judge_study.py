"""A second LLM's labels of a disagreement study's pairs."""

from dataclasses import replace
from typing import Any, ClassVar

from evaluation.management.base import the_campaign
from evaluation.studies import study_named
from llmjobs.job_plan import JobPlan
from llmjobs.job_service import JobRequest, plan_study, study_request
from organizer.management.llm import LlmCommand
from reports.files import as_table
from reports.quality.studies import agreement_rows, study_report


class Command(LlmCommand):
    help = "Have another LLM judge the pairs of a disagreement study; its labels stay apart from all others."
    example = "manage.py judge_study --campaign rag24 --study who-is-right --judge other-llm --wait"
    title = "Study {study}"
    own_options: ClassVar = {"--study": {"required": True, "metavar": "NAME", "help": "whose pairs"}}

    def request_of(self, options: dict[str, Any]) -> JobRequest:
        # Before the judge, which is made where it is new: a wrong name of a study must leave nothing behind.
        study = study_named(the_campaign(options["campaign"]), options["study"])
        wanted = super().request_of(options)
        request = study_request(study, wanted.judge, wanted.topics)
        return replace(request, budget=wanted.budget, priority=wanted.priority)

    def plan(self, request: JobRequest, options: dict[str, Any]) -> JobPlan:
        return plan_study(request, study_named(request.campaign, options["study"]))

    def finish(self, request: JobRequest, options: dict[str, Any]) -> None:
        report = study_report(study_named(request.campaign, options["study"]))
        self.stdout.write(as_table(agreement_rows(report)))
