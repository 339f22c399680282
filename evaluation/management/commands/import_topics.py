"""Import topics."""

from typing import Any

from evaluation.formats.source import read_source
from evaluation.imports.base import LoadReceipt
from evaluation.imports.topics import import_topics
from evaluation.management.base import ImportCommand
from evaluation.models import Campaign


class Command(ImportCommand):
    help = "Load topics: TSV (id<TAB>text), or JSONL {id, title|text} or {qid, query}, with optional tags."
    example = "manage.py import_topics --campaign rag24 topics.rag24.test.tsv"

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        source = read_source(options["file"])
        return import_topics(campaign=campaign, source=source, replace=options["replace"])
