"""Claim, renewal and end of work items. Every function is one short transaction.

A worker that dies writes nothing more: its leases run out, and its items fall due for others. An attempt that lost its
lease changes nothing, so that an item ends once.
"""

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone
from structlog.contextvars import get_contextvars

from jobs.models import Job, Notice, Worker, WorkItem
from web.statements import ROWS_A_STATEMENT

# After so long without a renewal a worker's items fall due again, and half of that says that it is gone.
LEASE = timedelta(seconds=settings.JOB_LEASE_SECONDS)
ALIVE = LEASE / 2
RENEW_EVERY = min(5.0, LEASE.total_seconds() / 6)
MESSAGE_EXPIRES = 30.0
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NewItem:
    key: str
    kind: str
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class JobProgress:
    total: int
    queued: int
    leased: int
    done: int
    failed: int
    cancelled: int

    @property
    def ended(self) -> int:
        return self.done + self.failed

    @property
    def left(self) -> int:
        return self.queued + self.leased


def request_context() -> dict[str, str]:
    # Kept with a job, so that workers log under the id of the request that started it.
    request = get_contextvars().get("request_id")
    return {"request_id": request} if request else {}


def add_items(job: Job, items: Iterable[NewItem]) -> int:
    """Queue items; a key that exists is left as it is. Return how many were given."""
    rows = [WorkItem(job=job, key=item.key, kind=item.kind, payload=item.payload) for item in items]
    WorkItem.objects.bulk_create(rows, batch_size=ROWS_A_STATEMENT, ignore_conflicts=True)
    wake(job.kind)
    return len(rows)


def has_broker() -> bool:
    return not str(settings.CELERY_BROKER_URL).startswith("memory:")


def wake(kind: str) -> None:
    """Have a worker look at a lane once the transaction has committed. Without a broker its timer does."""
    if has_broker():
        transaction.on_commit(partial(send_wake_up, kind), robust=True)


def send_wake_up(kind: str) -> None:
    # Tried once: the rows stay due, so a broker that is away may cost two seconds, but never the request.
    try:
        current_app.send_task("jobs.work", args=[kind], expires=MESSAGE_EXPIRES, retry=False)
    except Exception as error:
        log.warning("broker takes no wake-up: %s", error)


def claim(holder: str, limit: int, *, kind: str, besides: Collection[int] = ()) -> list[WorkItem]:
    """Lease up to `limit` due items to a worker: queued ones, and those whose lease ran out with their worker.

    Only of jobs of that kind; those `besides` are left alone. Jobs of a higher priority come first, those of the same
    get equal shares.
    """
    now = timezone.now()
    with transaction.atomic():
        items: list[WorkItem] = []
        for jobs in _by_priority(now, kind, besides):
            items += _shared(now, jobs, limit - len(items))
            if len(items) == limit:
                break
        WorkItem.objects.filter(pk__in=[item.pk for item in items]).update(
            state=WorkItem.State.LEASED, attempt=F("attempt") + 1, holder=holder, lease_until=now + LEASE
        )
    for item in items:
        item.attempt += 1
    return items


def _by_priority(now: datetime, kind: str, besides: Collection[int]) -> list[list[int]]:
    due = WorkItem.objects.filter(is_due(now), job=OuterRef("pk"))
    jobs = Job.objects.filter(Exists(due), state=Job.State.RUNNING, kind=kind).exclude(pk__in=besides)
    rows = jobs.order_by("-priority", "pk").values_list("priority", "pk")
    return [[pk for _, pk in group] for _, group in groupby(rows, key=lambda row: row[0])]


def _shared(now: datetime, jobs: Sequence[int], limit: int) -> list[WorkItem]:
    """Due items in equal shares; where a job has fewer, the others fill its share."""
    items: list[WorkItem] = []
    for share in (-(-limit // len(jobs)), limit):
        for job in jobs:
            room = min(share, limit - len(items))
            items += _due_of(now, job, [item.pk for item in items], room) if room else []
    return items


def _due_of(now: datetime, job: int, taken: Collection[int], room: int) -> list[WorkItem]:
    due = WorkItem.objects.filter(is_due(now), job=job).exclude(pk__in=taken).order_by("pk").select_related("job")
    if connection.features.has_select_for_update_skip_locked:
        due = due.select_for_update(skip_locked=True, of=("self",))
    return list(due[:room])


def is_due(now: datetime) -> Q:
    waits = Q(not_before__gt=now)
    return Q(state=WorkItem.State.QUEUED) & ~waits | Q(state=WorkItem.State.LEASED, lease_until__lt=now)


def anything_due(kind: str) -> bool:
    return WorkItem.objects.filter(is_due(timezone.now()), job__state=Job.State.RUNNING, job__kind=kind).exists()


def holder_in(worker: str, lane: str) -> str:
    # Lanes have holders of their own, or stopping one would hand back the other's items.
    return f"{worker}/{lane}"


def renew(holder: str) -> None:
    now = timezone.now()
    with transaction.atomic():
        own = Q(holder=holder) | Q(holder__startswith=holder_in(holder, ""))
        held = WorkItem.objects.filter(own, state=WorkItem.State.LEASED)
        if connection.features.has_select_for_update_skip_locked:
            # Whoever has locked an item is about to end it: to wait for that could deadlock.
            free = held.select_for_update(skip_locked=True).values_list("pk", flat=True)
            held = WorkItem.objects.filter(pk__in=list(free))
        held.update(lease_until=now + LEASE)
    Worker.objects.update_or_create(
        name=holder, defaults={"seen_at": now}, create_defaults={"seen_at": now, "started_at": now}
    )


def hand_back(holder: str) -> None:
    # Nobody need wait for the leases of a worker that stops in an orderly way.
    with transaction.atomic():
        held = WorkItem.objects.filter(holder=holder, state=WorkItem.State.LEASED)
        _lock(held)
        held.update(state=WorkItem.State.QUEUED, holder="", lease_until=None)


def leave(worker: str) -> None:
    Worker.objects.filter(name=worker).delete()


def lock_jobs(jobs: Collection[int]) -> None:
    """Have one worker after the other end items of a job: of two that end its last ones, one must see both.

    Whoever locks jobs and items in one transaction locks the jobs first, and items in their order.
    """
    _lock(Job.objects.filter(pk__in=jobs))


def _lock(rows: QuerySet[Any], *fields: str) -> list[tuple[Any, ...]]:
    # In the order of keys everywhere: two workers that lock the same rows must not deadlock on PostgreSQL.
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(no_key=True)
    return list(rows.order_by("pk").values_list("pk", *fields))


def end(item: WorkItem, *, failed: str = "") -> bool:
    """End an item in the caller's transaction; False where another attempt holds it."""
    return bool(end_all([(item, failed)]))


def end_all(outcomes: Sequence[tuple[WorkItem, str]]) -> set[int]:
    """End items, in the caller's transaction: done, or failed for a reason. Return those that their attempt still held.

    A few statements, however many: to end each by itself took a fifth of the engine's own time.
    """
    held = WorkItem.objects.filter(pk__in=[item.pk for item, _ in outcomes], state=WorkItem.State.LEASED)
    attempts = dict(_lock(held, "attempt"))
    by_reason: dict[str, list[int]] = {}
    for item, failed in outcomes:
        if attempts.get(item.pk) == item.attempt:
            by_reason.setdefault(failed, []).append(item.pk)
    for failed, ended in by_reason.items():
        state = WorkItem.State.FAILED if failed else WorkItem.State.DONE
        WorkItem.objects.filter(pk__in=ended).update(
            state=state, reason=failed, ended_at=timezone.now(), lease_until=None
        )
    return {pk for ended in by_reason.values() for pk in ended}


def postpone(items: Sequence[WorkItem], seconds: float) -> None:
    # Guarded by the attempt: a lease that ran out may belong to another worker by now.
    later = timezone.now() + timedelta(seconds=seconds)
    for item in items:
        held = WorkItem.objects.filter(pk=item.pk, attempt=item.attempt, state=WorkItem.State.LEASED)
        held.update(state=WorkItem.State.QUEUED, holder="", lease_until=None, not_before=later)


def finish_jobs(jobs: Collection[int], *, notify: bool = True) -> None:
    """Mark jobs done that have nothing left to do; `notify` writes notices. The caller has locked them."""
    open_states = [WorkItem.State.QUEUED, WorkItem.State.LEASED]
    busy = WorkItem.objects.filter(job__in=jobs, state__in=open_states).values("job")
    idle = Job.objects.filter(pk__in=jobs, state__in=[Job.State.RUNNING, Job.State.PAUSED]).exclude(pk__in=busy)
    now = timezone.now()
    if ended := list(idle):
        done = Job.objects.filter(pk__in=[job.pk for job in ended])
        done.update(state=Job.State.DONE, waiting_for="", ended_at=now)
        if notify:
            note(Notice.Kind.DONE, ended, now)


def note(kind: Notice.Kind, jobs: Iterable[Job], since: datetime) -> None:
    """Write a notice for each job, in the caller's transaction; who started it is sent a mail."""
    now = timezone.now()
    rows = [
        Notice(job=job, kind=kind, reason=job.waiting_for, since=since, mail_after=now if job.made_by_id else None)
        for job in jobs
    ]
    # Another worker may see the same in the same moment: the constraint leaves one of the two rows.
    Notice.objects.bulk_create(rows, ignore_conflicts=True)


def wait_for(jobs: Collection[int], reason: str) -> None:
    """Store why jobs do not move; an empty reason means that they do."""
    # A job whose reason changes has waited all the while.
    since = Case(When(waiting_for="", then=Value(timezone.now())), default=F("waiting_since")) if reason else None
    changed = Job.objects.filter(pk__in=jobs, state=Job.State.RUNNING).exclude(waiting_for=reason)
    changed.update(waiting_for=reason, waiting_since=since)


def pause(job: int, reason: str = "") -> bool:
    """Let a job rest: nothing of it is claimed, and who holds an item ends or postpones it.

    A reason is noted for those who wait for it; without one an organizer did it. Return False where it does not run.
    """
    with transaction.atomic():
        running = Job.objects.filter(pk=job, state=Job.State.RUNNING)
        paused = bool(running.update(state=Job.State.PAUSED, waiting_for=reason or "An organizer paused it."))
        if paused and reason:
            note(Notice.Kind.PAUSED, Job.objects.filter(pk=job), timezone.now())
    return paused


def resume(job: int) -> bool:
    with transaction.atomic():
        lock_jobs([job])
        paused = Job.objects.filter(pk=job, state=Job.State.PAUSED)
        resumed = bool(paused.update(state=Job.State.RUNNING, waiting_for=""))
        finish_jobs([job])
        for kind in Job.objects.filter(pk=job).values_list("kind", flat=True):
            wake(kind)
    return resumed


def cancel(job: Job) -> int:
    with transaction.atomic():
        Job.objects.filter(pk=job.pk, state__in=[Job.State.RUNNING, Job.State.PAUSED]).update(
            state=Job.State.CANCELLED, waiting_for="", ended_at=timezone.now()
        )
        left = job.items.filter(state__in=[WorkItem.State.QUEUED, WorkItem.State.LEASED])
        _lock(left)
        return left.update(state=WorkItem.State.CANCELLED, lease_until=None, ended_at=timezone.now())


def retry_failed(job: Job) -> int:
    """Queue the failed items again as new replicates, and the job with them. Return how many."""
    with transaction.atomic():
        lock_jobs([job.pk])
        failed = list(job.items.filter(state=WorkItem.State.FAILED))
        for item in failed:
            item.state, item.reason, item.ended_at = WorkItem.State.QUEUED, "", None
            item.not_before = None
            item.payload = item.payload | {"replicate": item.payload.get("replicate", 0) + 1}
        WorkItem.objects.bulk_update(
            failed, ["state", "reason", "ended_at", "payload", "not_before"], batch_size=ROWS_A_STATEMENT
        )
        if failed:
            ended = Job.objects.filter(pk=job.pk, state__in=[Job.State.DONE, Job.State.CANCELLED])
            ended.update(state=Job.State.RUNNING, ended_at=None)
            wake(job.kind)
    return len(failed)


def progress_of(job: Job) -> JobProgress:
    return progress_by_job([job.pk])[job.pk]


def progress_by_job(jobs: Iterable[int]) -> dict[int, JobProgress]:
    counts: dict[int, dict[str, int]] = {pk: dict.fromkeys(WorkItem.State.values, 0) for pk in jobs}
    states = WorkItem.objects.filter(job__in=counts).order_by().values_list("job", "state")
    for pk, state, count in states.annotate(Count("pk")):
        counts[pk][state] = count
    return {pk: JobProgress(total=sum(numbers.values()), **numbers) for pk, numbers in counts.items()}


def is_alive(worker: str) -> bool:
    return _alive().filter(name=worker).exists()


def live_workers() -> int:
    return _alive().count()


def _alive() -> QuerySet[Worker]:
    return Worker.objects.filter(seen_at__gt=timezone.now() - ALIVE)


def names_of_live_workers() -> QuerySet[Worker, str]:
    return _alive().values_list("name", flat=True)
