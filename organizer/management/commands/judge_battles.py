"""Verdicts on battles by an LLM."""

from typing import Any, ClassVar

from evaluation.rules.battles import Orders
from evaluation.terms import BattleCondition
from llmjobs.job_service import JobRequest, Work
from organizer.management.llm import LlmCommand
from reports.battles.documents import USUAL, battles_report
from reports.files import as_table


class Command(LlmCommand):
    help = "Have an LLM say which of the two answers of each battle is better."
    example = "manage.py judge_battles --campaign rag24 --orders fifth --wait"
    work = Work.BATTLE
    own_options: ClassVar = {
        "--set": {"default": "", "metavar": "NAME", "help": "which battle set, where there are several"},
        "--orders": {
            "default": Orders.FIFTH,
            "choices": list(Orders),
            "help": "sides as drawn; changed too in a fifth of the battles, at least 100; or in both orders all",
        },
        "--nuggets": {"default": "", "metavar": "SET", "help": "beside whose nuggets; none if unsaid"},
    }

    def finish(self, request: JobRequest, options: dict[str, Any]) -> None:
        by_this = {
            "set": options["set"],
            "condition": BattleCondition.LLM,
            "judge": request.judge.name,
            "against": "",
        }
        self.stdout.write(as_table(battles_report(request.campaign, USUAL | by_this).rows))
