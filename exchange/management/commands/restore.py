"""Put a backup back."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand
from exchange.backups.service import check, restore


class Command(AssayCommand):
    help = "Make the database what it was when a backup was taken. Stop web and worker processes before."
    example = "manage.py restore /srv/backups/assay-monday.tar"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="what `backup` wrote")
        parser.add_argument("--replace", action="store_true", help="lose what the database holds now")
        parser.add_argument("--check", action="store_true", help="check the file, and leave the database alone")

    def act(self, options: dict[str, Any]) -> None:
        path = Path(options["file"])
        found = check(path) if options["check"] else restore(path, replace=options["replace"])
        done = "can be restored" if options["check"] else "restored"
        manifest = found.manifest
        self.say(f"{done}: {manifest.total:,} rows of {len(manifest.rows)} tables, taken {manifest.made_at}.")
        if found.waiting:
            self.say(f"It is of an older version: manage.py migrate applies {len(found.waiting)} migrations.")
