"""Health of the queue: due items, workers alive, and notices of jobs that are stuck, with the mails about them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from jobs.models import Job, Notice, Worker, WorkItem
from jobs.queue import ALIVE, is_due, note


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
    items = WorkItem.objects.filter(job__state=Job.State.RUNNING)
    states = dict(WorkItem.objects.values_list("state").annotate(n=Count("pk")).order_by())
    free = Greatest("job__made_at", Coalesce("not_before", "job__made_at"))
    due = items.filter(is_due(now)).aggregate(
        number=Count("pk"),
        queued=Min(free, filter=Q(state=WorkItem.State.QUEUED)),
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


STALE = timedelta(days=1)
"""After so long a mail is not sent any more: where mail was off, turning it on sends nothing of last month."""

NEXT_TRY = timedelta(minutes=10)


def note_stuck() -> None:
    """Notices for jobs that wait too long while no item ends: one for each wait."""
    limit = timezone.now() - timedelta(minutes=settings.JOB_STUCK_MINUTES)
    moving = WorkItem.objects.filter(job=OuterRef("pk"), ended_at__gt=limit)
    waiting = Job.objects.filter(~Exists(moving), state=Job.State.RUNNING, waiting_since__lte=limit)
    noted = Notice.objects.filter(job=OuterRef("pk"), kind=Notice.Kind.STUCK, since=OuterRef("waiting_since"))
    for job in waiting.filter(~Exists(noted)).exclude(waiting_for=""):
        if job.waiting_since:
            note(Notice.Kind.STUCK, [job], job.waiting_since)


def to_mail() -> QuerySet[Notice]:
    now = timezone.now()
    due = Notice.objects.filter(mail_after__lte=now, noted_at__gt=now - STALE)
    return due.select_related("job__made_by").order_by("pk")


def take_mail(notice: Notice) -> bool:
    """Claim a notice's mail; False where another worker has it."""
    # `mail_after` moves on first, so that a mail that fails is tried again later.
    mine = Notice.objects.filter(pk=notice.pk, mail_after=notice.mail_after)
    return bool(mine.update(mail_after=timezone.now() + NEXT_TRY))


def mail_is_settled(notice: Notice, *, sent: bool) -> None:
    mailed_at = timezone.now() if sent else None
    Notice.objects.filter(pk=notice.pk).update(mail_after=None, mailed_at=mailed_at)
