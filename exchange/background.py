"""Background work of exchange: a lane of its own in every worker, beside that of LLM jobs."""

from collections.abc import Callable
from threading import Event as Signal

import structlog
from django.db import transaction

from accounts.models import User
from evaluation.errors import Refused
from jobs import lanes, queue
from jobs.models import Job, WorkItem
from jobs.queue import NewItem

JOB_KIND = "data"
IMPORT, EXPORT, OPENING = "import", "export", "opening"
UNEXPECTED = "An error that nobody expected; the log of the worker says more."
log = structlog.stdlib.get_logger(__name__)

Doing = Callable[[WorkItem], None]
_doings: dict[str, Doing] = {}


def register_doing(kind: str, doing: Doing) -> None:
    """Runner of items of one kind. `about` in an item's payload is the key of its row."""
    _doings[kind] = doing


def start_item(kind: str, about: int, title: str, actor: User | None) -> Job:
    """Queue one item about a row as a job, in the caller's transaction."""
    job = Job.objects.create(kind=JOB_KIND, title=title[:200], made_by=actor, options=queue.request_context())
    queue.add_items(job, [NewItem(f"{kind} {about}", kind, {"about": about})])
    return job


def run(worker: str, stopping: Signal) -> None:
    holder = queue.holder_in(worker, JOB_KIND)
    try:
        while not stopping.is_set() and (claimed := queue.claim(holder, 1, kind=JOB_KIND)):
            _do(claimed[0])
    finally:
        queue.hand_back(holder)


def _do(item: WorkItem) -> None:
    failed = ""
    try:
        _doings[item.kind](item)
    except Refused as refusal:
        failed = refusal.message
    except Exception:
        log.exception("data job failed", item=item.pk)
        failed = UNEXPECTED
    with transaction.atomic():
        queue.lock_jobs([item.job_id])
        queue.end(item, failed=failed)
        queue.finish_jobs([item.job_id], tell=False)  # who asked for it looks at the page where it stands


def register_lane() -> None:
    lanes.register(JOB_KIND, run)
