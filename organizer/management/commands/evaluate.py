"""AutoNuggets and AutoAssign."""

from typing import Any, ClassVar

from evaluation.domain.conditions import resolve
from evaluation.management.base import words_of
from evaluation.terms import Condition
from llmjobs.job_plan import JobPlan
from llmjobs.job_service import JobRequest, Work, plan_evaluation
from organizer.management.llm import RUNS, LlmCommand
from reports.files import as_table
from reports.leaderboard.scores import leaderboard, scores_rows
from reports.profiles import usual_policies


class Command(LlmCommand):
    help = "Have an LLM assign nuggets to answers, and make AutoNuggets first where A/A has none."
    example = "manage.py evaluate --campaign rag24 --condition A/A --wait"
    own_options: ClassVar = {
        "--condition": {"required": True, "choices": words_of(Condition)},
        "--qrels": {"default": "", "metavar": "SOURCE", "help": "UMBRELA, or the only source, if unsaid"},
        "--nuggets": {"default": "", "metavar": "SET", "help": "which set, where several fit"},
        **RUNS,
    }

    def work_of(self, options: dict[str, Any]) -> Work:
        return Work(options["condition"])

    def plan(self, request: JobRequest, options: dict[str, Any]) -> JobPlan:
        condition = Condition(options["condition"])
        return plan_evaluation(request, condition, qrels=options["qrels"], nuggets=options["nuggets"])

    def finish(self, request: JobRequest, options: dict[str, Any]) -> None:
        condition = Condition(options["condition"])
        request.campaign.refresh_from_db()  # figures are kept by the revision, which the job's labels have raised
        judge = request.judge.name
        choice = resolve(request.campaign, condition, judge=judge, nuggets=options["nuggets"])
        self.stdout.write(as_table(scores_rows(leaderboard(choice, usual_policies(request.campaign)))))
