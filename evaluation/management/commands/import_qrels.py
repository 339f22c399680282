"""Import qrels."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import read_source
from evaluation.imports.topics import import_qrels
from evaluation.management.base import AssayCommand, add_campaign, add_files, the_campaign


class Command(AssayCommand):
    help = "Load one source's relevance grades: TREC qrels (topic, anything, docid, grade)."
    example = "manage.py import_qrels --campaign rag24 --source NIST qrels.rag24.test.txt"
    audited = "import"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        add_files(parser)
        parser.add_argument("--source", required=True, metavar="NAME", help="who graded: NIST, UMBRELA, ...")

    def act(self, options: dict[str, Any]) -> None:
        receipt = import_qrels(
            campaign=the_campaign(options["campaign"]),
            source=read_source(options["file"]),
            name=options["source"],
            replace=options["replace"],
        )
        self.say(receipt)
