"""What the organizers of a campaign were told about its jobs and have not read yet."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from evaluation.models import Campaign
from evaluation.queries.campaigns import within
from jobs import queue
from jobs.models import Notice
from jobs.queue import JobProgress

SHOWN = 50
"""The newest are shown; whoever has not read fifty looks at the list of jobs."""


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """A notice, and how far its job is by now."""

    notice: Notice
    progress: JobProgress


def unread_for(viewer: User, campaign: Campaign) -> QuerySet[Notice]:
    unread = Notice.objects.filter(job__llm__campaign__in=within(viewer, campaign), read_at=None)
    return unread.select_related("job__llm__judge", "job__made_by").order_by("-pk")


def shown_notices(viewer: User, campaign: Campaign) -> list[ShownNotice]:
    """Newest unread notices, in two queries."""
    notices = list(unread_for(viewer, campaign)[:SHOWN])
    progress = queue.progress_by_job({one.job_id for one in notices})
    return [ShownNotice(one, progress[one.job_id]) for one in notices]


def mark_read(viewer: User, campaign: Campaign, pk: int) -> None:
    """Note that an organizer has read a notice; again changes nothing. Raises `Notice.DoesNotExist`."""
    mine = Notice.objects.filter(job__llm__campaign__in=within(viewer, campaign))
    notice = mine.get(pk=pk)
    Notice.objects.filter(pk=notice.pk, read_at=None).update(read_at=timezone.now())


def mark_all_read(viewer: User, campaign: Campaign, newest: int) -> int:
    unread = list(unread_for(viewer, campaign).filter(pk__lte=newest).values_list("pk", flat=True))
    return Notice.objects.filter(pk__in=unread).update(read_at=timezone.now())
