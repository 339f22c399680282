"""Import support judgments."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.imports.base import LoadReceipt
from evaluation.imports.support import import_support
from evaluation.management.base import ImportCommand, read_sources, words_of
from evaluation.models import Campaign
from evaluation.terms import JudgeKind, SupportCondition


class Command(ImportCommand):
    help = "Load support labels: JSONL {run_id, topic_id, sentence (from 0), docid, label}."
    example = "manage.py import_support --campaign rag24 --judge Ann --by human --condition scratch support.jsonl"
    several = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--judge", required=True, metavar="NAME", help="who judged; made if unknown")
        parser.add_argument("--by", required=True, choices=words_of(JudgeKind))
        parser.add_argument(
            "--condition", choices=words_of(SupportCondition), help="llm for an LLM; else what the rows say"
        )

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        condition = options["condition"]
        return import_support(
            campaign=campaign,
            sources=read_sources(options["files"]),
            judge=options["judge"],
            kind=JudgeKind(options["by"]),
            condition=SupportCondition(condition) if condition else None,
            replace=options["replace"],
        )
