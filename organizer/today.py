"""First page of a campaign's organizers: progress, forecast, and open needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Final
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.progress.matrix import may_organize
from assessor.progress.today import (
    FEWEST,
    LATELY,
    Forecast,
    OpenRemarks,
    OpenTask,
    Pace,
    TaskInNeed,
    asked_for,
    forecast,
    open_tasks_for,
    pace_of,
    spread_of,
    tasks_in_need_for,
    topic_numbers_for,
)
from assessor.rules.clock import SECOND
from assessor.timing.times import KeptTime, kept_times_for, odd_times
from evaluation.models import Campaign
from evaluation.terms import RemarkKind, Stage
from jobs.models import Notice
from llmjobs.job_status import ShownNotice, shown_notices
from organizer.access import get_campaign
from organizer.templatetags.work import days_text, hours_text
from web.text import plural

SHOWN: Final = 5
"""Cases of a kind on the page; its link leads to the others."""
HOUR = 3600 * SECOND
OPEN_REMARKS: Final = {
    RemarkKind.FLAG: "Flags",
    RemarkKind.REOPEN: "Requests to reopen",
    RemarkKind.COMMENT: "Comments without an answer",
}


@dataclass(frozen=True, slots=True)
class Case:
    """An open case, with the page to act on it."""

    what: str
    link: str
    since: datetime | date | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Need:
    """Cases of one kind: their number, the first of them, and the list of all."""

    title: str
    number: int
    cases: tuple[Case, ...]
    link: str
    means: str = ""


def _forecast(viewer: User, campaign: Campaign, times: Sequence[KeptTime], now: datetime) -> Forecast:
    # Of a reopened task the submission that is being made counts: the last in order.
    spent = {row.task: hours_of(row) for row in times}
    tasks = [OpenTask(stage, spent.get(pk, 0.0)) for pk, stage in open_tasks_for(viewer, campaign)]
    spreads = {
        stage: spread_of([hours_of(row) for row in times if row.is_first and row.stage is stage])
        for stage in Stage
    }
    return forecast(tasks, spreads, _pace(times, now), now)


def hours_of(row: KeptTime) -> float:
    return row.times.active.point / HOUR


def _pace(times: Iterable[KeptTime], now: datetime) -> Pace:
    """Pace of the last two weeks."""
    people, hours, began = set(), 0.0, now.date()
    for row in times:
        length, day = row.since((now - LATELY).date())
        if day:
            people.add(row.assessor)
            # Of a submission that began before the two weeks only the later part counts.
            hours += hours_of(row) * min(1.0, length / max(sum(row.recorded.days.values()), 1))
            began = min(began, day)
    since = datetime.combine(began, time(), tzinfo=UTC)
    return pace_of(people, hours, max(since, now - LATELY), now)


def forecast_text(found: Forecast) -> str:
    if not found.tasks:
        return "Nothing that is handed out is still to be done."
    if found.unknown:
        stages = "; ".join(stage.words for stage in found.unknown)
        return (
            f"Too little is known for a forecast: fewer than {FEWEST} first submissions with a time of {stages}."
        )
    if not found.pace.hours:
        return "No forecast: nobody worked at a desk in the last 14 days."
    each = "; ".join(f"{hours_text(spread.median)} ({stage.words})" for stage, spread in found.spreads.items())
    people = found.pace.people
    days = (
        days_text(found.first, found.last)
        if found.first and found.last
        else "not within five years at the pace of the last 14 days"
    )
    return f"At the median {each} a topic and {people} {plural(people, 'assessor')}: {days}."


def _needs(viewer: User, campaign: Campaign, times: Sequence[KeptTime]) -> Iterable[Need]:
    """Needs of an organizer; first those that stop people."""
    work = reverse("organizer:work", args=[campaign.slug])
    tasks = tasks_in_need_for(viewer, campaign)
    yield from _of_tasks("Blocked tasks", campaign, tasks.blocked, f"{work}?{urlencode({'state': 'blocked'})}")
    yield from (_of_remarks(campaign, remarks) for remarks in asked_for(viewer, campaign))
    yield from _of_tasks("Overdue tasks", campaign, tasks.overdue, f"{work}?{urlencode({'due': 'late'})}")
    means = "Begun, and nobody was at the desk for 24 hours."
    yield from _of_tasks(
        "Drafts left lying", campaign, tasks.untouched, f"{work}?{urlencode({'due': 'idle'})}", means
    )
    yield from _of_jobs(campaign, shown_notices(viewer, campaign))
    yield from _of_clocks(campaign, times)


def _of_tasks(
    title: str, campaign: Campaign, tasks: Sequence[TaskInNeed], link: str, means: str = ""
) -> Iterable[Need]:
    if tasks:
        cases = tuple(
            Case(
                f"{task.topic_id}, {task.stage.words}: {task.assessor}",
                reverse("organizer:task", args=[campaign.slug, task.public_id]),
                task.since,
                task.text,
            )
            for task in tasks[:SHOWN]
        )
        yield Need(title, len(tasks), cases, link, means)


def _of_remarks(campaign: Campaign, remarks: OpenRemarks) -> Need:
    cases = tuple(
        Case(
            f"{remark.task.topic.topic_id}: {remark.task.assessor.name}",
            reverse("organizer:task", args=[campaign.slug, remark.task.public_id]) + "#h-remarks",
            remark.at,
            remark.text,
        )
        for remark in remarks.oldest
    )
    query = urlencode({"kind": remarks.kind.value})
    inbox = reverse("organizer:inbox", args=[campaign.slug])
    return Need(OPEN_REMARKS[remarks.kind], remarks.number, cases, f"{inbox}?{query}")


def _of_jobs(campaign: Campaign, notices: Sequence[ShownNotice]) -> Iterable[Need]:
    # Jobs that ended well need nobody; the others stay until their notices are read.
    bad = [notice for notice in notices if notice.notice.kind != Notice.Kind.DONE or notice.progress.failed]
    if bad:
        cases = tuple(
            Case(
                f"{notice.notice.job.title}: {notice.notice.kind}",
                reverse("organizer:job", args=[campaign.slug, notice.notice.job_id]),
                notice.notice.since,
                notice.notice.reason or _failed(notice.progress.failed),
            )
            for notice in bad[:SHOWN]
        )
        yield Need("Jobs that failed or wait", len(bad), cases, reverse("organizer:inbox", args=[campaign.slug]))


def _failed(count: int) -> str:
    return f"{count:,} failed" if count else ""


def _of_clocks(campaign: Campaign, times: Sequence[KeptTime]) -> Iterable[Need]:
    link = reverse("organizer:people_work", args=[campaign.slug])
    odd = odd_times(times, (timezone.now() - LATELY).date())
    people = User.objects.in_bulk([assessor for assessor, _, _ in odd.days]) if odd.days else {}
    cases = [
        Case(f"{people[assessor].name}: {hours_text(hours)} on {date_format(day, 'j M Y')}", link)
        for assessor, day, hours in odd.days
    ]
    if odd.ahead:
        cases.append(Case(f"{odd.ahead:,} {plural(odd.ahead, 'submission')} with time after now", link))
    if cases:
        means = "More than a day can hold, or after now: a clock that was set, or an account of two people."
        yield Need("Clocks that cannot be right", len(cases), tuple(cases[:SHOWN]), link, means)


@require_safe
@never_cache
def today(request: UserRequest, slug: str) -> HttpResponse:
    """The page, in about two dozen queries at any size of campaign."""
    viewer, campaign = request.user, get_campaign(request.user, slug)
    now = timezone.now()
    # The forecast and the odd clocks are of the same times, which are the dearest read of the page.
    times = kept_times_for(viewer, campaign)
    found = _forecast(viewer, campaign, times, now)
    context = {
        "campaign": campaign,
        "numbers": topic_numbers_for(viewer, campaign),
        "forecast": found,
        "forecast_text": forecast_text(found),
        "needs": list(_needs(viewer, campaign, times)),
        "checked_at": now,
        "may_organize": may_organize(viewer, campaign),
    }
    return render(request, "organizer/today.html", context)
