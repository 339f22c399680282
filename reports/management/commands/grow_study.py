"""Drawing more of an audit."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from reports.audits.drawing import grow_audit
from reports.audits.frame import audit_named
from web.text import plural


class Command(AssayCommand):
    help = "Draw more pairs of an audit: the next of the same order, beside those that are drawn."
    example = "manage.py grow_study --campaign rag24 --study is-it-right --per-run 100"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--study", required=True, metavar="NAME", help="which audit")
        parser.add_argument("--per-run", type=int, required=True, metavar="N", help="pairs of each run, in all")
        parser.add_argument("--runs", nargs="+", default=[], metavar="RUN", help="only these runs")

    def act(self, options: dict[str, Any]) -> None:
        study = audit_named(the_campaign(options["campaign"]), options["study"])
        came = grow_audit(study=study, per_run=options["per_run"], runs=options["runs"])
        self.say(f"{study}: {came:,} {plural(came, 'pair')} more to judge.")
