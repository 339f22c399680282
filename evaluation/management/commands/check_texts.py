"""Look for texts that seem to address their judge."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.imports.segments import look_for_addressing
from evaluation.management.base import AssayCommand, add_campaign, the_campaign


class Command(AssayCommand):
    help = (
        "Look through loaded answers and passages for what seems to address its judge; imports look by themselves."
    )
    example = "manage.py check_texts --campaign rag24"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)

    def act(self, options: dict[str, Any]) -> None:
        self.say(look_for_addressing(campaign=the_campaign(options["campaign"])))
