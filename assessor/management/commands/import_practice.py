"""Import practice items."""

from typing import Any

from django.core.management.base import CommandParser

from assessor.practice.imports import import_practice
from evaluation.formats.source import read_source
from evaluation.management.base import AssayCommand, add_campaign, add_files, the_campaign


class Command(AssayCommand):
    help = (
        "Load practice items, whose labels are known: JSONL {kind, question, text, statement, label, explanation}."
    )
    example = "manage.py import_practice --campaign rag24 practice.jsonl"
    audited = "import"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        add_files(parser, replacing="what was answered is kept with its answers, and not asked any more")

    def act(self, options: dict[str, Any]) -> None:
        campaign = the_campaign(options["campaign"])
        source = read_source(options["file"])
        self.say(import_practice(campaign=campaign, source=source, replace=options["replace"]))
