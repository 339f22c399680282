"""Load a campaign from the file that `export campaign` wrote."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand
from evaluation.terms import Role
from exchange.snapshots.service import LoadResult, load_campaign


class Command(AssayCommand):
    help = "Load a campaign that export campaign wrote: all or nothing, and the same file again changes nothing."
    audited = "import"
    example = "manage.py import_campaign rag24.zip --slug rag24-copy"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE.zip")
        text = "load it under another short name, for instance beside the campaign that it was made of"
        parser.add_argument("--slug", default="", help=text)
        text = "give its people their roles back; without this only administrators get in until they give roles"
        parser.add_argument("--members", action="store_true", help=text)

    def act(self, options: dict[str, Any]) -> None:
        members = frozenset(Role) if options["members"] else frozenset[Role]()
        self.say(_loaded_text(load_campaign(Path(options["file"]), slug=options["slug"], members=members)))


def _loaded_text(result: LoadResult) -> str:
    if result.loaded is None:
        return f"Nothing changed: campaign {result.campaign.slug} is in this very state."
    lines = [f"Campaign {result.campaign.slug} loaded: {result.loaded.rows:,} rows."]
    if result.loaded.matched:
        lines.append(f"There already, by user name: {', '.join(result.loaded.matched)}.")
    if result.loaded.made:
        names = ", ".join(result.loaded.made)
        lines.append(f"Accounts made, closed and without a password: {names}.")
    if result.not_given:
        left = ", ".join(f"{membership.user.username} as {membership.role}" for membership in result.not_given)
        lines.append(f"Not given, because copies are judged blind too: {left}.")
    return "\n".join(lines)
