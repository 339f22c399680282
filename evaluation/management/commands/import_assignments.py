"""Import assignments."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.imports.assignments import import_assignments
from evaluation.management.base import AssayCommand, add_campaign, add_files, read_sources, the_campaign, words_of
from evaluation.terms import JudgeKind, Origin


class Command(AssayCommand):
    help = "Load labels as nuggetizer writes them: {qid, run_id, nuggets: [{text, importance, assignment}]}."
    example = "manage.py import_assignments --campaign rag24 --origin auto --judge gpt-4o --by llm labels/*.jsonl"
    audited = "import"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        add_files(parser, several=True)
        origins = [word for word in words_of(Origin) if word != Origin.DRAFT]
        parser.add_argument("--origin", required=True, choices=origins, help="of the nuggets that were assigned")
        parser.add_argument("--judge", required=True, metavar="NAME", help="who assigned; made if unknown")
        parser.add_argument("--by", required=True, choices=words_of(JudgeKind))
        parser.add_argument("--nuggets", default="", metavar="SET", help="where several sets have that origin")

    def act(self, options: dict[str, Any]) -> None:
        receipt = import_assignments(
            campaign=the_campaign(options["campaign"]),
            sources=read_sources(options["files"]),
            origin=Origin(options["origin"]),
            judge=options["judge"],
            kind=JudgeKind(options["by"]),
            nuggets=options["nuggets"],
            replace=options["replace"],
        )
        self.say(receipt)
