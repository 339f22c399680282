"""Import support judgments."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.imports.support import import_support
from evaluation.management.base import AssayCommand, add_campaign, add_files, read_sources, the_campaign, words_of
from evaluation.terms import JudgeKind, SupportCondition


class Command(AssayCommand):
    help = "Load support labels: JSONL {run_id, topic_id, sentence (from 0), docid, label}."
    example = "manage.py import_support --campaign rag24 --judge Ann --by human --condition scratch support.jsonl"
    audited = "import"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        add_files(parser, several=True)
        parser.add_argument("--judge", required=True, metavar="NAME", help="who judged; made if unknown")
        parser.add_argument("--by", required=True, choices=words_of(JudgeKind))
        parser.add_argument(
            "--condition", choices=words_of(SupportCondition), help="llm for an LLM; else what the rows say"
        )

    def act(self, options: dict[str, Any]) -> None:
        condition = options["condition"]
        receipt = import_support(
            campaign=the_campaign(options["campaign"]),
            sources=read_sources(options["files"]),
            judge=options["judge"],
            kind=JudgeKind(options["by"]),
            condition=SupportCondition(condition) if condition else None,
            replace=options["replace"],
        )
        self.say(receipt)
