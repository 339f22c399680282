"""Notices of stuck jobs, and mails about notices. The queue itself notes jobs that are done or paused."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from jobs.models import Job, Notice, WorkItem
from jobs.queue import note

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
