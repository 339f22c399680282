"""Automatic lists as drafts."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from llmjobs.taken_drafts import take_drafts


class Command(AssayCommand):
    help = (
        "Take an automatic set's newest lists as drafts for assessors to post-edit. Topics with drafts keep them."
    )
    example = "manage.py take_drafts --campaign rag24 --nuggets auto-gpt-4o"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument(
            "--nuggets", default="", metavar="SET", help="the automatic set; default: the only one"
        )

    def act(self, options: dict[str, Any]) -> None:
        campaign = the_campaign(options["campaign"])
        self.say(f"{take_drafts(campaign=campaign, nuggets=options['nuggets'], actor=None)}")
