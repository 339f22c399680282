"""Import topics."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import read_source
from evaluation.imports.topics import import_topics
from evaluation.management.base import AssayCommand, add_campaign, add_files, the_campaign


class Command(AssayCommand):
    help = "Load topics: TSV (id<TAB>text), or JSONL {id, title|text} or {qid, query}, with optional tags."
    example = "manage.py import_topics --campaign rag24 topics.rag24.test.tsv"
    audited = "import"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        add_files(parser)

    def act(self, options: dict[str, Any]) -> None:
        campaign = the_campaign(options["campaign"])
        source = read_source(options["file"])
        self.say(import_topics(campaign=campaign, source=source, replace=options["replace"]))
