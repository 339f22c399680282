"""Import nugget lists."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import read_source
from evaluation.imports.base import LoadReceipt
from evaluation.imports.nuggets import import_nuggets
from evaluation.management.base import ImportCommand, words_of
from evaluation.models import Campaign
from evaluation.terms import JudgeKind, Origin


class Command(ImportCommand):
    help = (
        "Load nugget lists as nuggetizer writes them, {query, qid, nuggets: [{text, importance}]}, or ARGUE's banks, "
        "{metadata: {topic_id}, nugget_bank: [{question, answers}]}: which they are is seen from the file."
    )
    example = "manage.py import_nuggets --campaign rag24 --origin auto --judge gpt-4o nuggets.jsonl"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--origin", required=True, choices=words_of(Origin))
        parser.add_argument("--judge", required=True, metavar="NAME", help="who made the lists; made if unknown")
        parser.add_argument(
            "--by", choices=words_of(JudgeKind), help="a person for edited and manual, else an LLM"
        )
        parser.add_argument("--set", default="", metavar="NAME", help="name of the set; ORIGIN-JUDGE without it")
        parser.add_argument("--drafts", default="", metavar="SET", help="the set an edited one was made from")

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        return import_nuggets(
            campaign=campaign,
            source=read_source(options["file"]),
            origin=Origin(options["origin"]),
            judge=options["judge"],
            kind=JudgeKind(options["by"]) if options["by"] else None,
            name=options["set"],
            drafts=options["drafts"],
            replace=options["replace"],
        )
