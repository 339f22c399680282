"""Import a published run-level table."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import read_source
from evaluation.imports.base import LoadReceipt
from evaluation.management.base import ImportCommand
from evaluation.models import Campaign
from reports.leaderboard.scores import import_scores


class Command(ImportCommand):
    help = "Load published scores of runs, loaded here or not: CSV run_id[,group,task] and score columns."
    example = "manage.py import_scores --campaign rag24 --condition 'NIST M/M' published.csv"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--condition", required=True, metavar="NAME", help="its name in report correlation")

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        source, name = read_source(options["file"]), options["condition"]
        return import_scores(campaign=campaign, source=source, name=name, replace=options["replace"])
