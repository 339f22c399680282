"""Taking into a random check what came after its draw."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from reports.random_checks.drawing import extend_random_check
from reports.random_checks.frame import random_check_named
from web.text import plural


class Command(AssayCommand):
    help = "Take pairs into a random check that came after it was drawn: of new runs, topics, nuggets or wordings."
    example = "manage.py extend_study --campaign rag24 --study is-it-right"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--study", required=True, metavar="NAME", help="which random check")

    def act(self, options: dict[str, Any]) -> None:
        study = random_check_named(the_campaign(options["campaign"]), options["study"])
        came = extend_random_check(study=study)
        self.say(f"{study}: {came:,} {plural(came, 'pair')} more to judge.")
