"""Fetch texts of passages that have none."""

import sys
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from exchange.fetching import Wanted, fetch_rows, plan_fetch, start_fetch
from exchange.text_sources import source_named
from jobs.models import Job
from organizer.management.llm import EXIT_FAILED_LABELS, EXIT_STOPPED, stopped, wait_for


class Command(AssayCommand):
    help = "Fetch the texts of passages that have none, from a source of TEXT_SOURCES. A worker does it."
    example = "manage.py fetch_segments --campaign rag24 --source corpus --cited"
    audited = "import"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--source", required=True, metavar="NAME", help="its name in TEXT_SOURCES")
        which = parser.add_mutually_exclusive_group()
        for wanted, meaning in WANTED.items():
            which.add_argument(f"--{wanted}", dest="wanted", action="store_const", const=wanted, help=meaning)
        parser.set_defaults(wanted=Wanted.ALL)
        parser.add_argument("--dry-run", action="store_true", help="say how many there are, and ask for none")
        meaning = "wait for the end; exit 3 if texts failed, 4 if paused or cancelled"
        parser.add_argument("--wait", action="store_true", help=meaning)

    def act(self, options: dict[str, Any]) -> None:
        campaign, source = the_campaign(options["campaign"]), source_named(options["source"])
        if options["dry_run"]:
            plan = plan_fetch(campaign, source, options["wanted"])
            self.stdout.write(f"to fetch        {len(plan.docids):,}")
            self.stdout.write(f"not there       {plan.not_there:,}")
            self.stdout.write(f"under way       {plan.under_way:,}")
            return
        job = start_fetch(campaign=campaign, source=source, wanted=options["wanted"], actor=None)
        self.say(f"Job {job.pk}: {job.items.count():,} texts to fetch from {source.name}.")
        if options["wait"]:
            self.wait(job)

    def wait(self, job: Job) -> None:
        wait_for(job, lambda progress, reason: None)
        [row] = fetch_rows([job])
        self.say(f"{row.progress.done:,} texts are loaded, {row.progress.failed:,} failed.")
        for failure in row.failures:
            self.say(f"  {failure.count:,}: {failure.reason} (such as {failure.example})")
        if words := stopped(job):
            self.say(words)
            sys.exit(EXIT_STOPPED)
        if row.progress.failed:
            sys.exit(EXIT_FAILED_LABELS)


WANTED = {
    Wanted.CITED: "only of passages that answers cite",
    Wanted.QRELS: "only of passages with a grade",
    Wanted.ALL: "of all passages (the default)",
}
