"""Import assignments."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.imports.assignments import import_assignments
from evaluation.imports.base import LoadReceipt
from evaluation.management.base import ImportCommand, read_sources, words_of
from evaluation.models import Campaign
from evaluation.terms import JudgeKind, Origin


class Command(ImportCommand):
    help = "Load labels as nuggetizer writes them: {qid, run_id, nuggets: [{text, importance, assignment}]}."
    example = "manage.py import_assignments --campaign rag24 --origin auto --judge gpt-4o --by llm labels/*.jsonl"
    several = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        origins = [word for word in words_of(Origin) if word != Origin.DRAFT]
        parser.add_argument("--origin", required=True, choices=origins, help="of the nuggets that were assigned")
        parser.add_argument("--judge", required=True, metavar="NAME", help="who assigned; made if unknown")
        parser.add_argument("--by", required=True, choices=words_of(JudgeKind))
        parser.add_argument("--nuggets", default="", metavar="SET", help="where several sets have that origin")

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        return import_assignments(
            campaign=campaign,
            sources=read_sources(options["files"]),
            origin=Origin(options["origin"]),
            judge=options["judge"],
            kind=JudgeKind(options["by"]),
            nuggets=options["nuggets"],
            replace=options["replace"],
        )
