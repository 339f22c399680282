"""Reports at the command line: data on stdout, what it rests on beside it."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from reports.document import Option
from reports.files import as_csv, as_json, as_table
from reports.registry import documents


class Command(AssayCommand):
    help = "Print scores, agreement, and what they rest on."
    example = "manage.py report correlation --campaign rag24 --x A/A --y E/M --score vital_strict --format json"
    audited = "export"

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True, metavar="REPORT")
        for name, entry in documents().items():
            own = kinds.add_parser(name, help=entry.text, description=entry.text)
            add_campaign(own)
            own.add_argument("--format", choices=["table", "csv", "json"], default="table")
            for option in entry.options:
                _add(own, option)

    def act(self, options: dict[str, Any]) -> None:
        document = documents()[options["kind"]].make(the_campaign(options["campaign"]), options)
        if options["format"] == "json":
            self.stdout.write(as_json(document.content))
        elif options["format"] == "csv":
            self.stdout.write(as_csv(document.rows))
        else:
            self.stdout.write(as_table(document.rows if document.lines is None else document.lines))
            self.stdout.write(document.text)


def _add(parser: CommandParser, option: Option) -> None:
    flag = f"--{option.name.replace('_', '-')}"
    if option.is_flag:
        parser.add_argument(flag, action="store_true", help=option.text)
        return
    parser.add_argument(
        flag,
        action="append" if option.several else "store",
        required=option.needed,
        choices=option.choices or None,
        default=option.default,
        type=_count if option.is_count else str,
        metavar=option.metavar or None,
        help=option.text,
    )


def _count(word: str) -> int:
    number = int(word)
    if number < 1:
        raise ArgumentTypeError(f"a number of at least 1, found {number}")
    return number
