"""Background work of exchange: a lane of its own in every worker, beside that of LLM jobs."""

from collections.abc import Callable
from threading import Event as Signal

import structlog
from django.db import transaction
from django.utils.module_loading import import_string
from django.utils.timezone import now

from accounts.models import User
from evaluation.errors import Refused
from exchange import files
from exchange.models import Export, ImportAttempt
from jobs import lanes, queue
from jobs.models import Job, WorkItem
from jobs.queue import NewItem

JOB_KIND = "data"
IMPORT, EXPORT, OPENING = "import", "export", "opening"
RUNNERS = {
    IMPORT: "exchange.imports.service.carry_on_item",
    EXPORT: "exchange.exports.service.carry_out_item",
    OPENING: "exchange.snapshots.service.open_for_item",
}
"""By name, because these modules queue their items with `start_item` and so import this one."""

UNEXPECTED = "An error that nobody expected; the log of the worker says more."
log = structlog.stdlib.get_logger(__name__)


def register() -> None:
    lanes.register(JOB_KIND, run)
    lanes.register_watcher(sweep)


def start_item(kind: str, about: int, title: str, actor: User | None) -> Job:
    """Queue one item about a row as a job, in the caller's transaction: `about` in its payload is the row's key."""
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
        runner: Callable[[WorkItem], None] = import_string(RUNNERS[item.kind])
        runner(item)
    except Refused as refusal:
        failed = refusal.message
    except Exception:
        # Whatever a file or an option causes ends this item only: the lane goes on with the next one.
        log.exception("data job failed", item=item.pk)
        failed = UNEXPECTED
    with transaction.atomic():
        queue.lock_jobs([item.job_id])
        queue.end(item, failed=failed)
        queue.finish_jobs([item.job_id], notify=False)  # who asked for it looks at its page


def sweep() -> None:
    """Remove files that nobody fetched or loaded in time. Snapshots are not among them: they have no end."""
    state = ImportAttempt.State
    open_states = [state.CHECKING, state.CHECKED, state.LOADING, state.REFUSED]
    old = ImportAttempt.objects.filter(expires_at__lt=now(), state__in=open_states).exclude(folder="")
    for attempt in old:
        # The row first: a file without a row is litter, a row without its file would promise what is gone.
        old.filter(pk=attempt.pk).update(state=state.EXPIRED, folder="", ended_at=now())
        files.remove(attempt.folder)
    written = Export.objects.filter(expires_at__lt=now(), state=Export.State.DONE).exclude(folder="")
    for export in written:
        Export.objects.filter(pk=export.pk).update(state=Export.State.EXPIRED, folder="")
        files.remove(export.folder)
