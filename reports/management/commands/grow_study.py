"""Drawing more of a random check."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from reports.random_checks.drawing import grow_random_check
from reports.random_checks.frame import random_check_named
from web.text import plural


class Command(AssayCommand):
    help = "Draw more pairs of a random check: the next of the same order, beside those that are drawn."
    example = "manage.py grow_study --campaign rag24 --study is-it-right --per-run 100"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--study", required=True, metavar="NAME", help="which random check")
        parser.add_argument("--per-run", type=int, required=True, metavar="N", help="pairs of each run, in all")
        parser.add_argument("--runs", nargs="+", default=[], metavar="RUN", help="only these runs")

    def act(self, options: dict[str, Any]) -> None:
        study = random_check_named(the_campaign(options["campaign"]), options["study"])
        came = grow_random_check(study=study, per_run=options["per_run"], runs=options["runs"])
        self.say(f"{study}: {came:,} {plural(came, 'pair')} more to judge.")
