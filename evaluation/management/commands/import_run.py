"""Import runs."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import MAX_TEXT_LINE_BYTES
from evaluation.imports.base import LoadReceipt
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.management.base import ImportCommand, read_sources, words_of
from evaluation.models import Campaign
from evaluation.terms import RagTask


class Command(ImportCommand):
    help = "Load runs, one per file, in the TREC RAG forms of 2024 and 2025."
    example = "manage.py import_run --campaign rag24 --group ragnarok --task AG --priority 1 run.jsonl"
    several = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--group", help="the team; without it what the file says")
        parser.add_argument("--task", choices=words_of(RagTask), help="AG or RAG; without it what the file says")
        parser.add_argument("--priority", type=int, help="1 is judged first")
        parser.add_argument("--control", action="store_true", help="an organizers' control run")
        parser.add_argument("--pool", action="store_true", help="judge these runs whatever their priority")

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        return import_runs(
            campaign=campaign,
            sources=read_sources(options["files"], max_line_bytes=MAX_TEXT_LINE_BYTES),
            options=RunOptions(
                group=options["group"],
                task=RagTask(options["task"]) if options["task"] else None,
                priority=options["priority"],
                control=options["control"],
                pool=options["pool"],
            ),
            replace=options["replace"],
        )
