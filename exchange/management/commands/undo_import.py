"""Take an import back, or list what can be."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from exchange.imports.undo import import_named, listed_imports, undo_import


class Command(AssayCommand):
    help = "Take an import back, as long as nothing rests on it; without ID: list the campaign's imports."
    audited = "import"
    example = "manage.py undo_import --campaign rag24 e1204"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        text = "the number on the import's page, or e and its number in the log, as they are listed"
        parser.add_argument("id", nargs="?", default="", metavar="ID", help=text)

    def act(self, options: dict[str, Any]) -> None:
        campaign = the_campaign(options["campaign"])
        if not options["id"]:
            for line in listed_imports(campaign):
                self.stdout.write(line)
            return
        self.say(undo_import(campaign=campaign, event=import_named(campaign, options["id"]), actor=None))
