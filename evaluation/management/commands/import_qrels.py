"""Import qrels."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import read_source
from evaluation.imports.base import LoadReceipt
from evaluation.imports.topics import import_qrels
from evaluation.management.base import ImportCommand
from evaluation.models import Campaign


class Command(ImportCommand):
    help = "Load one source's relevance grades: TREC qrels (topic, anything, docid, grade)."
    example = "manage.py import_qrels --campaign rag24 --source NIST qrels.rag24.test.txt"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--source", required=True, metavar="NAME", help="who graded: NIST, UMBRELA, ...")

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        return import_qrels(
            campaign=campaign,
            source=read_source(options["file"]),
            name=options["source"],
            replace=options["replace"],
        )
