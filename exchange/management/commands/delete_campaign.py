"""Delete a campaign."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from exchange.deletion import delete_campaign


class Command(AssayCommand):
    help = "Delete a campaign: nobody finds it any more. Export it before; there is no way back."
    example = "manage.py delete_campaign --campaign rag24 --name rag24"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--name", required=True, help="its name once more, so that no other is meant")

    def act(self, options: dict[str, Any]) -> None:
        campaign = the_campaign(options["campaign"])
        self.say(delete_campaign(campaign=campaign, typed=options["name"], actor=None))
