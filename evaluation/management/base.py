"""Base of every command: exit codes, refusals on stderr, data on stdout, named choices."""

import sys
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError
from tqdm import tqdm

from evaluation.campaigns.findings import findings_by_kind
from evaluation.errors import Refused, no_such
from evaluation.formats.source import Source, read_source
from evaluation.imports.base import LoadReceipt
from evaluation.models import Campaign
from web import audit_log
from web.busy import SENTENCE, is_busy

EXIT_REFUSED = 1
EXIT_USAGE = 2  # as argparse exits
USAGE_CODES = ("ambiguous", "usage")


class AssayCommand(BaseCommand):
    """A command that prints its example, exits with 1 when refused and with 2 on wrong usage."""

    example = ""
    exit_refused, exit_usage = EXIT_REFUSED, EXIT_USAGE
    audited = "command"
    """Kind of the command's line in the audit log, with who ran it and on which campaign; empty: no line."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs |= {"epilog": f"Example:\n  {self.example}", "formatter_class": RawDescriptionHelpFormatter}
        return super().create_parser(prog_name, subcommand, **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            # Before the act: whoever can run commands could otherwise fill the disk and leave no trace.
            self.leave_trace(options)
            self.act(options)
        except Refused as refusal:
            self.stderr.write(refusal.command_message)
            sys.exit(self.exit_usage if refusal.code in USAGE_CODES else self.exit_refused)
        except OperationalError as error:
            if not is_busy(error):
                raise
            self.stderr.write(SENTENCE)
            sys.exit(self.exit_refused)

    def leave_trace(self, options: dict[str, Any]) -> None:
        """Write the command to the audit log. Raises `Refused` where it cannot: then nothing is done either."""
        if not self.audited:
            return
        name = type(self).__module__.rpartition(".")[2]
        what = options.get("what") or options.get("kind")  # of `export` and of `report`
        command = f"{name} {what}" if what else name
        try:
            audit_log.record(
                self.audited, actor=audit_log.system_actor(), command=command, campaign=options.get("campaign")
            )
        except audit_log.AuditUnwritableError as error:
            raise Refused("audit_unwritable", str(error)) from error

    def act(self, options: dict[str, Any]) -> None:
        raise CommandError(f"{type(self).__module__} does nothing")

    def say(self, message: object) -> None:
        self.stderr.write(str(message), self.style.SUCCESS)


class ImportCommand(AssayCommand):
    """A command that loads files into a campaign and prints the receipt. `several`: it takes more than one file."""

    audited = "import"
    several = False

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        add_files(parser, several=self.several)

    def act(self, options: dict[str, Any]) -> None:
        receipt = self.load(the_campaign(options["campaign"]), options)
        self.say(receipt)
        for kind in findings_by_kind(receipt.found):
            self.say(kind)

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        raise NotImplementedError


def add_campaign(parser: CommandParser) -> None:
    parser.add_argument("--campaign", required=True, metavar="SLUG", help="the campaign's short name")


def add_files(
    parser: CommandParser, *, several: bool = False, replacing: str = "refused where labels hang on it"
) -> None:
    text = "a file, a .gz of it, or - for standard input"
    if several:
        parser.add_argument("files", nargs="+", metavar="FILE", help=text)
    else:
        parser.add_argument("file", metavar="FILE", help=text)
    parser.add_argument("--replace", action="store_true", help=f"change what is loaded; {replacing}")


def words_of(vocabulary: type[StrEnum]) -> list[str]:
    return [word.value for word in vocabulary]


def the_campaign(slug: str) -> Campaign:
    """Return the campaign of that name. Raises `Refused` with the names that exist."""
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign is None:
        slugs = Campaign.objects.order_by("slug").values_list("slug", flat=True)
        raise no_such("no_such_campaign", f"campaign {slug}", slugs)
    return campaign


def read_sources(files: Sequence[str], **limits: Any) -> list[Source]:
    # None: no bar where standard error is no terminal.
    bar: Iterable[str] = tqdm(files, desc="reading", unit="file", disable=None if len(files) > 1 else True)
    return [read_source(file, **limits) for file in bar]
