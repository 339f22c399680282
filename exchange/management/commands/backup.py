"""Take a backup of the database while people work."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand
from exchange.backup import back_up, default_path


class Command(AssayCommand):
    help = "Write the whole database, as it is at one moment, and stored files into one file. Nobody waits."
    example = "manage.py backup /srv/backups/assay-monday.tar"

    def add_arguments(self, parser: CommandParser) -> None:
        text = "where to; without it var/backups/assay-DATE-TIME.tar"
        parser.add_argument("file", metavar="FILE", nargs="?", help=text)

    def act(self, options: dict[str, Any]) -> None:
        path = Path(options["file"]) if options["file"] else default_path()
        manifest = back_up(path)
        self.stdout.write(str(path))
        stored, size = len(manifest.sha256) - 1, path.stat().st_size / 1e6
        self.say(f"{manifest.total:,} rows of {len(manifest.rows)} tables, {stored} stored files: {size:,.1f} MB.")
