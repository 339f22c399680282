"""Import segment texts."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.segments import names_any
from evaluation.formats.source import MAX_TEXT_LINE_BYTES
from evaluation.imports.base import LoadReceipt
from evaluation.imports.segments import import_segments, needed_docids
from evaluation.management.base import ImportCommand, read_sources
from evaluation.models import Campaign

# One file of the MS MARCO V2.1 segment collection is a few GB; read with --needed-only it is never held whole.
MAX_COLLECTION_BYTES = 64 * 1024**3


class Command(ImportCommand):
    help = "Load segment texts: MS MARCO V2.1 segment JSONL, or candidates of ragnarok or rank_llm."
    example = "manage.py import_segments --campaign rag24 --needed-only msmarco_v2.1_doc_segmented_*.json.gz"
    several = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--needed-only", action="store_true", help="only docids that qrels or runs name")

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        needed = needed_docids(campaign) if options["needed_only"] else None
        sources = read_sources(
            options["files"],
            max_line_bytes=MAX_TEXT_LINE_BYTES,
            max_bytes=MAX_COLLECTION_BYTES,
            keep=names_any(needed) if needed is not None else None,
        )
        return import_segments(campaign=campaign, sources=sources, needed=needed, replace=options["replace"])
