"""News of a campaign since somebody's last visit, in a few grouped lines."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.urls import reverse

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.campaigns.contents import IMPORT_KINDS
from evaluation.models import Campaign, Event
from jobs.models import Notice
from organizer.models import TodayVisit
from web.text import plural

MOST_LINES: Final = 6
MOST_EVENTS: Final = 500
VISIT_ENDS: Final = timedelta(minutes=30)
"""A page that is opened again within this time belongs to the same visit."""
JOINED = ("invitation.accepted", "member.added")


@dataclass(frozen=True, slots=True)
class NewsLine:
    text: str
    link: str


def last_visit(viewer: User, campaign: Campaign, now: datetime) -> datetime | None:
    """Note that somebody is here, and return when they were here before; None at the first visit."""
    visit, first = TodayVisit.objects.get_or_create(campaign=campaign, user=viewer, defaults={"seen_at": now})
    if first:
        return None
    if now - visit.seen_at > VISIT_ENDS:
        visit.before = visit.seen_at
    visit.seen_at = now
    visit.save(update_fields=["before", "seen_at"])
    return visit.before


def news_for(viewer: User, campaign: Campaign, since: datetime) -> list[NewsLine]:
    """At most `MOST_LINES` lines about what others did and what jobs came to."""
    lines = [*_of_people(viewer, campaign, since), *_of_jobs(viewer, campaign, since)]
    return lines[:MOST_LINES]


def _of_people(viewer: User, campaign: Campaign, since: datetime) -> Iterator[NewsLine]:
    kinds = ["task.submitted", *JOINED, *IMPORT_KINDS]
    rows = Event.objects.filter(campaign__in=within(viewer, campaign), kind__in=kinds, at__gt=since)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for event in rows.exclude(actor=viewer).select_related("actor")[:MOST_EVENTS]:
        actor = event.actor.name if event.actor else "A command"
        counts[event.kind, actor] += 1
    work, people, data = (
        reverse(f"organizer:{page}", args=[campaign.slug]) for page in ("work", "people", "data")
    )
    for (kind, actor), number in counts.items():
        if kind == "task.submitted":
            yield NewsLine(f"{actor} submitted {number} {plural(number, 'task')}", f"{work}?state=submitted")
        elif kind == "invitation.accepted":
            yield NewsLine(f"{actor} accepted the invitation", people)
        elif kind == "member.added":
            yield NewsLine(f"{actor} gave {number} {plural(number, 'role')}", people)
        else:
            yield NewsLine(f"{actor} loaded {kind.removeprefix('import.')}", data)


def _of_jobs(viewer: User, campaign: Campaign, since: datetime) -> Iterator[NewsLine]:
    notices = Notice.objects.filter(job__llm__campaign__in=within(viewer, campaign), since__gt=since)
    ends = {Notice.Kind.DONE: "ended", Notice.Kind.PAUSED: "was paused", Notice.Kind.STUCK: "waits"}
    for notice in notices.select_related("job")[:MOST_LINES]:
        address = reverse("organizer:job", args=[campaign.slug, notice.job_id])
        yield NewsLine(f"Job “{notice.job.title}” {ends[Notice.Kind(notice.kind)]}", address)
