"""Loading labels of a random check's pairs."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import read_source
from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from reports.random_checks.frame import random_check_named
from reports.random_checks.importing import import_random_check


class Command(AssayCommand):
    help = "Load one person's labels of a random check's pairs: {run_id, topic_id, nugget, occurrence, label}."
    example = "manage.py import_random_check --campaign rag24 --study is-it-right --judge ann labels.jsonl"
    audited = "import"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--study", required=True, metavar="NAME", help="which random check")
        text = "who judged; of an exported file, whose labels are read"
        parser.add_argument("--judge", required=True, metavar="WHO", help=text)
        parser.add_argument("file", metavar="FILE", help="a file, a .gz of it, or - for standard input")

    def act(self, options: dict[str, Any]) -> None:
        study = random_check_named(the_campaign(options["campaign"]), options["study"])
        source = read_source(options["file"])
        self.say(import_random_check(study=study, source=source, judge=options["judge"]))
