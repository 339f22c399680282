"""Make a campaign."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.campaigns.create import PRESETS, CampaignFile, create_campaign, preset_of, read_campaign_file
from evaluation.campaigns.protocol import settings_of
from evaluation.management.base import AssayCommand
from evaluation.rules.protocol import SETTINGS


class Command(AssayCommand):
    help = "Make a campaign with its protocol settings. The same again changes nothing."
    example = 'manage.py create_campaign rag24 --name "TREC 2024 RAG" --from rag24.toml'

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="short name for URLs and commands")
        parser.add_argument("--name", default="", help="the campaign's name on screens")
        parser.add_argument("--like", choices=PRESETS, help="a track's protocol; the file wins field by field")
        parser.add_argument("--from", dest="file", metavar="FILE.toml", help="settings; see docs/formats.md")
        parser.add_argument("--replace", action="store_true", help="make other settings a new protocol version")

    def act(self, options: dict[str, Any]) -> None:
        file = read_campaign_file(options["file"]) if options["file"] else CampaignFile()
        file.like = options["like"] or file.like
        name = options["name"] or file.name or options["slug"]
        campaign, outcome = create_campaign(slug=options["slug"], name=name, file=file, replace=options["replace"])
        texts = {"made": "made", "changed": "changed", "unchanged": "already there just so; nothing changed"}
        self.say(f"Campaign {campaign.slug} ({campaign.name}): {texts[outcome]}.")
        if file.like:
            preset, values = preset_of(file.like), settings_of(campaign.protocol)
            self.say(f"Its protocol is like that of {preset.name}:")
            for name in preset.protocol.model_fields_set:
                self.say(f"- {SETTINGS[name].label}: {SETTINGS[name].text(values[name])}")
