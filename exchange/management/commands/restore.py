"""Put a backup back."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import localdate

from evaluation.management.base import AssayCommand
from exchange.backup import Restored, check, restore


class Command(AssayCommand):
    help = "Make the database what it was when a backup was taken. Stop web and worker processes before."
    example = "manage.py restore /srv/backups/assay-monday.tar"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="what `backup` wrote")
        parser.add_argument("--replace", action="store_true", help="lose what the database holds now")
        parser.add_argument("--check", action="store_true", help="check the file, and leave the database alone")
        trust = "restore a file that this installation did not sign: whoever made it may run commands here"
        parser.add_argument("--from-elsewhere", action="store_true", help=trust)

    def act(self, options: dict[str, Any]) -> None:
        path = Path(options["file"])
        trust = {"from_elsewhere": options["from_elsewhere"]}
        restored = check(path, **trust) if options["check"] else restore(path, replace=options["replace"], **trust)
        done = "can be restored" if options["check"] else "restored"
        manifest = restored.manifest
        self.say(f"{done}: {manifest.total:,} rows of {len(manifest.rows)} tables, taken {manifest.made_at}.")
        if restored.waiting:
            self.say(f"It is of an older version: manage.py migrate applies {len(restored.waiting)} migrations.")
        if not options["check"]:
            self.say("Every session is ended: everybody signs in again.")
        self._warn_of(restored)

    def _warn_of(self, restored: Restored) -> None:
        if restored.tokens:
            self.say(f"Tokens that are good again ({len(restored.tokens)}); take back what was taken back since:")
            for token in restored.tokens:
                self.say(
                    f"  {token.prefix}… of {token.user.username}, {token.name}, until {localdate(token.expires_at)}"
                )
        if restored.accounts:
            self.say(f"Accounts that are open again: {', '.join(restored.accounts)}.")
