"""Save a wording from a file as a version of a prompt."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import read_source
from evaluation.management.base import AssayCommand, the_campaign
from llmjobs.prompt_store import LARGEST_FILE, import_prompt
from llmjobs.prompts.texts import TEMPLATES


class Command(AssayCommand):
    help = "Save the wording of a file as the next version of a prompt. The same wording again changes nothing."
    example = "manage.py import_prompt --task assign --name strict strict.toml"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--task", default="", choices=["", *TEMPLATES], help="what it asks for, if unsaid in the file"
        )
        parser.add_argument("--name", default="", metavar="NAME", help="its name, if unsaid in the file")
        parser.add_argument(
            "--campaign", default="", metavar="SLUG", help="whose members may read it; without it it is common"
        )
        parser.add_argument(
            "file", metavar="FILE", help="TOML with the texts; see docs/formats.md; or - for standard input"
        )

    def act(self, options: dict[str, Any]) -> None:
        source = read_source(options["file"], max_bytes=LARGEST_FILE)
        campaign = the_campaign(options["campaign"]) if options["campaign"] else None
        prompt, made = import_prompt(source, task=options["task"], name=options["name"], campaign=campaign)
        self.say(f"{prompt} for the task {prompt.task}: {'made' if made else 'already there; nothing changed'}.")
