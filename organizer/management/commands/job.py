"""A campaign's LLM jobs at the terminal: look, pause, resume, cancel, retry."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import Refused
from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from exchange import loaded_jobs
from llmjobs import job_service
from llmjobs.job_status import job_rows
from llmjobs.models import LlmJob
from organizer.management.llm import PRIORITIES
from reports.files import as_table

ACTS = {
    "pause": job_service.pause,
    "resume": job_service.resume,
    "cancel": job_service.cancel,
    "retry": loaded_jobs.retry,
}


class Command(AssayCommand):
    help = (
        "List a campaign's LLM jobs; pause, resume or cancel one, retry what failed of it, or prefer it to others."
    )
    example = "manage.py job --campaign rag24 pause 12"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("act", nargs="?", choices=["list", *ACTS, "prefer"], default="list")
        parser.add_argument("job", nargs="?", type=int, metavar="JOB", help="its number; of a list: only this one")
        meaning = "of prefer: jobs of a higher one come first"
        parser.add_argument("--priority", type=int, choices=PRIORITIES, metavar="N", help=meaning)

    def act(self, options: dict[str, Any]) -> None:
        jobs = LlmJob.objects.filter(campaign=the_campaign(options["campaign"]))
        jobs = jobs.select_related("job", "judge", "campaign").order_by("-pk")
        if options["job"] is not None:
            jobs = jobs.filter(pk=options["job"])
            if not jobs:
                raise Refused("no_such_job", f"There is no job {options['job']} in {options['campaign']}.")
        if options["act"] != "list":
            self.change(jobs[0] if options["job"] is not None else None, options)
        # Read anew, because an act has just changed the row.
        self.stdout.write(as_table([_row(row.llm, row.progress) for row in job_rows(jobs.all())]))

    def change(self, llm: LlmJob | None, options: dict[str, Any]) -> None:
        if llm is None or (options["act"] == "prefer") != (options["priority"] is not None):
            raise Refused("usage", "Say which job by its number; and with prefer, and only then, its --priority.")
        if options["act"] == "prefer":
            job_service.prefer(llm, None, options["priority"])
        else:
            # No account acts at a terminal: the audit log names the system's.
            ACTS[options["act"]](llm, None)


def _row(llm: LlmJob, progress: Any) -> dict[str, Any]:
    job = llm.job
    return {
        "job": llm.pk,
        "title": job.title,
        "judge": llm.judge.name,
        "state": job.state,
        "why": job.waiting_for,
        "priority": job.priority,
        "ended": progress.ended,
        "failed": progress.failed,
        "items": progress.total,
        "requests": llm.sent_calls,
    }
