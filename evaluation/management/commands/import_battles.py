"""Import verdicts of battles."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.battles import FORMS
from evaluation.formats.source import read_source
from evaluation.imports.base import LoadReceipt
from evaluation.imports.battles import IMPORTED, import_battles
from evaluation.management.base import ImportCommand, words_of
from evaluation.models import Campaign
from evaluation.terms import JudgeKind


class Command(ImportCommand):
    help = (
        "Load which of two answers is better: {topic_id, left, right, verdict}, RAGDoll's judgments or arena CSV; or "
        "RAGDoll's tasks, battles to be judged."
    )
    example = "manage.py import_battles --campaign rag26 --by human verdicts.jsonl"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        text = "who judged, where the file does not say, or in its place; made if unknown"
        parser.add_argument("--judge", default="", metavar="WHO", help=text)
        parser.add_argument("--by", required=True, choices=words_of(JudgeKind))
        parser.add_argument("--form", choices=list(FORMS), default="", help="without it what the file looks like")
        text = f"the battle set, where several were drawn; {IMPORTED} takes battles that were not drawn here"
        parser.add_argument("--set", default="", metavar="NAME", help=text)

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        return import_battles(
            campaign=campaign,
            source=read_source(options["file"]),
            kind=JudgeKind(options["by"]),
            judge=options["judge"],
            form=options["form"],
            set_name=options["set"],
            replace=options["replace"],
        )
