"""Health of the queue: items that are due, since when, and the workers alive."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Q
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from jobs.models import Job, Worker, WorkItem
from jobs.queue import ALIVE, is_due


@dataclass(frozen=True, slots=True)
class QueueState:
    """Seconds are None where there is nothing to count from.

    `oldest_due_seconds` says for how long the oldest due item could have been taken up: in a long job that is long, and
    all is well while `last_ended_seconds` is short.
    """

    queued: int
    leased: int
    due: int
    failed: int
    workers: int
    oldest_due_seconds: float | None
    last_ended_seconds: float | None
    newest_heartbeat_seconds: float | None


def queue_state() -> QueueState:
    now = timezone.now()
    wanted = WorkItem.objects.filter(job__state=Job.State.RUNNING)
    states = dict(WorkItem.objects.values_list("state").annotate(n=Count("pk")).order_by())
    due = wanted.filter(is_due(now)).aggregate(
        number=Count("pk"),
        queued=Min(
            Greatest("job__made_at", Coalesce("not_before", "job__made_at")), filter=Q(state=WorkItem.State.QUEUED)
        ),
        dropped=Min("lease_until", filter=Q(state=WorkItem.State.LEASED)),
    )
    since = [moment for moment in (due["queued"], due["dropped"]) if moment]
    workers = Worker.objects.aggregate(newest=Max("seen_at"), alive=Count("pk", filter=Q(seen_at__gt=now - ALIVE)))
    return QueueState(
        queued=states.get(WorkItem.State.QUEUED, 0),
        leased=states.get(WorkItem.State.LEASED, 0),
        due=due["number"],
        failed=states.get(WorkItem.State.FAILED, 0),
        workers=workers["alive"],
        oldest_due_seconds=_age(min(since) if since else None, now),
        last_ended_seconds=_age(WorkItem.objects.aggregate(last=Max("ended_at"))["last"], now),
        newest_heartbeat_seconds=_age(workers["newest"], now),
    )


def _age(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, round((now - moment).total_seconds(), 3))
