"""Import a published run-level table."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import read_source
from evaluation.management.base import AssayCommand, add_campaign, add_files, the_campaign
from reports.leaderboard.scores import import_scores


class Command(AssayCommand):
    help = "Load published scores of runs, loaded here or not: CSV run_id[,group,task] and score columns."
    example = "manage.py import_scores --campaign rag24 --condition 'NIST M/M' published.csv"
    audited = "import"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        add_files(parser)
        parser.add_argument("--condition", required=True, metavar="NAME", help="its name in report correlation")

    def act(self, options: dict[str, Any]) -> None:
        receipt = import_scores(
            campaign=the_campaign(options["campaign"]),
            source=read_source(options["file"]),
            name=options["condition"],
            replace=options["replace"],
        )
        self.say(receipt)
