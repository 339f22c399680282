"""Import scores of runs, or of runs and topics, by judges or from a paper."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.score_files import FORMS, TABLE, JudgeEntry
from evaluation.formats.source import read_source
from evaluation.imports.base import LoadReceipt
from evaluation.management.base import ImportCommand, read_sources
from evaluation.models import Campaign
from reports.judges.imports import ScoreFileOptions, load_score_files


class Command(ImportCommand):
    help = "Load scores of runs, loaded here or not: a CSV of runs, or judges' score files by topic."
    example = "manage.py import_scores --campaign rag24 --form tot --judge A judgeA.eval.txt"
    several = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        names = parser.add_mutually_exclusive_group(required=True)
        names.add_argument("--condition", metavar="NAME", help="its name in reports")
        names.add_argument("--judge", metavar="NAME", help="the judge's name in reports")
        names.add_argument("--judges", metavar="FILE.yml", help="judges by file: name, method, model")
        parser.add_argument("--method", default="", help="how the judge judges")
        parser.add_argument("--model", default="", help="the LLM that it asks")
        parser.add_argument(
            "--form", choices=[TABLE, *FORMS], default="", help="by their looks where it is not said"
        )
        parser.add_argument("--has-header", action="store_true", help="the first line names the columns")
        parser.add_argument("--topics-as-they-are", action="store_true", help="topics need not be loaded")
        text = "aggregates of the file count, also where they are not the mean of their topics"
        parser.add_argument("--keep-aggregates", action="store_true", help=text)

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        name = options["judge"] if options["condition"] is None else options["condition"]
        return load_score_files(
            campaign=campaign,
            sources=read_sources(options["files"]),
            judge=JudgeEntry(name or "", options["method"], options["model"]),
            judges=options["judges"] and read_source(options["judges"]),
            options=ScoreFileOptions(
                options["form"], options["has_header"], options["topics_as_they_are"], options["keep_aggregates"]
            ),
            replace=options["replace"],
        )
