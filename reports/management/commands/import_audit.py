"""Loading labels of an audit's pairs."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.formats.source import read_source
from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from reports.audits.frame import audit_named
from reports.audits.importing import import_audit


class Command(AssayCommand):
    help = "Load one person's labels of an audit's pairs: {run_id, topic_id, nugget, occurrence, label}."
    example = "manage.py import_audit --campaign rag24 --study is-it-right --judge ann labels.jsonl"
    audited = "import"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--study", required=True, metavar="NAME", help="which audit")
        text = "who judged; of an exported file, whose labels are read"
        parser.add_argument("--judge", required=True, metavar="WHO", help=text)
        parser.add_argument("file", metavar="FILE", help="a file, a .gz of it, or - for standard input")

    def act(self, options: dict[str, Any]) -> None:
        study = audit_named(the_campaign(options["campaign"]), options["study"])
        source = read_source(options["file"])
        self.say(import_audit(study=study, source=source, judge=options["judge"]))
