"""First page of a campaign's organizers: the pipeline, what needs them, people, jobs and results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.progress.matrix import remarks_for
from assessor.progress.people import TaskLoad, assessors_at_work, loads_for
from assessor.progress.pipeline import pipeline_for
from assessor.progress.today import (
    FEWEST,
    LATELY,
    Forecast,
    OpenTask,
    forecast,
    open_tasks_for,
    pace_of,
    spread_of,
    tasks_in_need_for,
)
from assessor.rules.clock import SECOND
from assessor.timing.times import KeptTime, kept_times_for, odd_times
from evaluation.campaigns.access import may_organize
from evaluation.models import Campaign, Remark, Task
from evaluation.stages import STAGES
from evaluation.terms import RemarkKind
from exchange.imports.kinds import IMPORT_KINDS
from exchange.models import ImportAttempt
from jobs.models import Job, Notice, WorkItem
from llmjobs.job_status import (
    JobListRow,
    MoneySpent,
    ShownNotice,
    job_rows,
    jobs_for,
    priced_without_counts,
    shown_notices,
)
from llmjobs.models import LlmJob
from organizer.access import get_campaign
from organizer.navigation import page_in
from organizer.templatetags.work import days_text
from organizer.today.acts import cards_of, checklist_for
from organizer.today.summary import human_agreement, last_visit, news_for, results_of
from web.text import hours_text, plural

SHOWN: Final = 5
"""Cases of a kind on the page; its link leads to the others."""
REMARKS_SHOWN: Final = 6
JOBS_SHOWN: Final = 3
HOUR = 3600 * SECOND
RATE_OVER: Final = timedelta(minutes=10)
"""Time over which the rate of a running job is counted."""
ASKS: Final = {
    RemarkKind.FLAG: "asks for help",
    RemarkKind.REOPEN: "asks to reopen",
    RemarkKind.COMMENT: "comments",
}


@dataclass(frozen=True, slots=True)
class Need:
    """An open case. `act`: caption of its link; `job`: a job whose failures can be tried again."""

    who: str
    what: str
    link: str
    act: str
    since: datetime | date | None = None
    text: str = ""
    job: int | None = None


@dataclass(frozen=True, slots=True)
class PersonToday:
    """One assessor and the load, as People shows it. `most`: minutes of the longest list, for the bar."""

    name: str
    load: TaskLoad
    most: int
    seen_at: datetime | None

    @property
    def share(self) -> float:
        return round(100 * self.load.minutes / self.most, 1)


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job under way; items a minute over the last minutes, and what is left at that rate."""

    row: JobListRow
    rate: float

    @property
    def left(self) -> str:
        return hours_text(self.row.progress.left / self.rate / 60) if self.rate else ""


def _forecast(viewer: User, campaign: Campaign, times: Sequence[KeptTime], now: datetime) -> Forecast:
    # Of a reopened task the submission that is being made counts: the last in order.
    spent = {row.task: hours_of(row) for row in times}
    tasks = [OpenTask(stage, spent.get(pk, 0.0)) for pk, stage in open_tasks_for(viewer, campaign)]
    first = [row for row in times if row.is_first]
    spreads = {
        stage: spread_of([hours_of(row) for row in first if row.stage is stage]) for stage in STAGES.values()
    }
    return forecast(tasks, spreads, _pace(times, now), now)


def hours_of(row: KeptTime) -> float:
    return row.times.active.point / HOUR


def _pace(times: Iterable[KeptTime], now: datetime) -> float:
    hours, began = 0.0, timezone.localdate(now)
    for row in times:
        length, day = row.since(timezone.localdate(now - LATELY))
        if day:
            # Of a submission that began before the two weeks only the later part counts.
            hours += hours_of(row) * min(1.0, length / max(sum(row.recorded.days.values()), 1))
            began = min(began, day)
    since = timezone.make_aware(datetime.combine(began, time()))
    return pace_of(hours, max(since, now - LATELY), now)


def forecast_text(found: Forecast) -> str:
    if not found.tasks:
        return ""
    if found.unknown:
        return f"A forecast appears after {FEWEST} submitted topics per stage ({found.fewest} so far)"
    if not found.pace:
        return "No forecast: nobody worked at a desk in the last 14 days"
    if not (found.first and found.last):
        return "Not within five years at the pace of the last 14 days"
    days = days_text(found.first, found.last).removeprefix("on ")
    return f"All labels by {days} at the pace so far"


def _needs(viewer: User, campaign: Campaign, times: Sequence[KeptTime]) -> Iterable[Need]:
    """Cases beside the remarks; first those that stop people."""
    blocked, untouched = tasks_in_need_for(viewer, campaign)
    yield from (_of_task(campaign, task, "is blocked", text=task.blocked_reason) for task in blocked[:SHOWN])
    yield from _of_jobs(campaign, shown_notices(viewer, campaign))
    yield from _of_imports(viewer, campaign)
    what = "has not touched begun work for over 24 h"
    yield from (_of_task(campaign, task, what, since) for task, since in untouched[:SHOWN])
    yield from _of_clocks(campaign, times)


def _of_task(campaign: Campaign, task: Task, what: str, since: datetime | None = None, text: str = "") -> Need:
    about, link = f"{what}: {task.topic.topic_id}, {task.stage.words}", page_in(campaign, "task", task.public_id)
    return Need(task.assessor.name, about, link, "Open the task", since, text)


def _of_jobs(campaign: Campaign, notices: Sequence[ShownNotice]) -> Iterable[Need]:
    # What is over needs nobody: jobs that ended well, that go on again, or that no longer wait.
    bad = [
        shown
        for shown in notices
        if shown.notice.stands or (shown.notice.kind == Notice.Kind.DONE and shown.progress.failed)
    ]
    for notice in bad[:SHOWN]:
        job, failed = notice.notice.job, notice.progress.failed
        link = page_in(campaign, "job", job.pk)
        what = f"{failed:,} of {notice.progress.total:,} failed" if failed else notice.notice.kind
        failed_job = job.pk if failed and job.has_ended else None
        yield Need(job.title, what, link, "Open the job", notice.notice.since, notice.notice.reason, failed_job)


def _of_imports(viewer: User, campaign: Campaign) -> Iterable[Need]:
    newest = ImportAttempt.objects.filter(campaign=campaign).order_by("-pk").first()
    # An older refusal was followed by another try.
    if newest and newest.state == ImportAttempt.State.REFUSED:
        link, act = page_in(campaign, "data"), "Open Data"
        if may_organize(viewer, campaign):
            link, act = page_in(campaign, "import_attempt", newest.pk), "Open the import"
        what = f"{len(newest.problems):,} {plural(len(newest.problems), 'problem')}, nothing was loaded"
        yield Need(f"Import of {IMPORT_KINDS[newest.kind].caption.lower()}", what, link, act, newest.made_at)


def _of_clocks(campaign: Campaign, times: Sequence[KeptTime]) -> Iterable[Need]:
    link = page_in(campaign, "people")
    odd = odd_times(times, timezone.localdate(timezone.now() - LATELY))
    people = User.objects.in_bulk([assessor for assessor, _, _ in odd.days]) if odd.days else {}
    for assessor, day, hours in odd.days[:SHOWN]:
        what = f"{hours_text(hours)} on {date_format(day, 'j M Y')}: a clock that was set, or two people"
        yield Need(people[assessor].name, what, link, "Open the times")
    if odd.ahead:
        what = f"{odd.ahead:,} {plural(odd.ahead, 'submission')} with time after now"
        yield Need("Clocks that cannot be right", what, link, "Open the times")


def people_rows(viewer: User, campaign: Campaign) -> list[PersonToday]:
    """Assessors with work or a role, by next due date; nobody is ranked."""
    loads = loads_for(viewer, campaign)
    most = max((load.minutes for load in loads.values()), default=0) or 1
    rows = [
        PersonToday(person.name, loads.get(person.pk) or TaskLoad(), most, person.seen_at)
        for person in assessors_at_work(viewer, campaign)
    ]
    return sorted(rows, key=lambda row: (row.load.next_due or date.max, row.name.casefold()))


def running_jobs(rows: Iterable[JobListRow], now: datetime) -> list[RunningJob]:
    running = list(rows)
    ended = WorkItem.objects.filter(job__in=[row.llm.pk for row in running], ended_at__gt=now - RATE_OVER)
    counts = dict(ended.order_by().values_list("job").annotate(Count("pk")))
    minutes = RATE_OVER / timedelta(minutes=1)
    return [RunningJob(row, counts.get(row.llm.pk, 0) / minutes) for row in running]


def spending_of(jobs: Sequence[LlmJob], since: datetime) -> tuple[MoneySpent, MoneySpent]:
    """Return what jobs paid that began since a moment, and what all did. One that sent nothing paid nothing."""
    week, in_all, uncounted = MoneySpent(), MoneySpent(), priced_without_counts(jobs)
    for llm in jobs:
        if llm.sent_calls:
            for spending in (week, in_all) if llm.job.made_at >= since else (in_all,):
                spending.add(llm, uncounted=llm.pk in uncounted)
    return week, in_all


@require_safe
@never_cache
def today(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, get_campaign(request.user, slug)
    now, organizes = timezone.now(), may_organize(viewer, campaign)
    # The forecast and the odd clocks are of the same times, which are the dearest read of the page.
    times = kept_times_for(viewer, campaign)
    remarks = list(remarks_for(viewer, campaign))
    all_jobs = list(jobs_for(viewer, campaign))
    moving = [llm for llm in all_jobs if not llm.job.has_ended]
    pipeline = pipeline_for(viewer, campaign)
    checklist = checklist_for(viewer, campaign, pipeline) if organizes else []
    running = [llm.job.title for llm in moving if llm.job.state == Job.State.RUNNING]
    cards = cards_of(campaign, pipeline, remarks, running, acts=organizes, primary=not checklist)
    before = last_visit(viewer, campaign, now)
    week, in_all = spending_of(all_jobs, now - timedelta(days=7))
    context = {
        "campaign": campaign,
        "topics": len(pipeline.topics),
        "checklist": checklist,
        "cards": cards if not checklist or checklist[-2].done else [],
        "forecast_text": forecast_text(_forecast(viewer, campaign, times, now)),
        "remarks": _asking(remarks, request.GET.get("answer", "")),
        "remarks_left": max(0, len(remarks) - REMARKS_SHOWN),
        "needs": list(_needs(viewer, campaign, times)),
        "people": people_rows(viewer, campaign),
        "jobs": running_jobs(job_rows(moving[:JOBS_SHOWN]), now),
        "week": week,
        "in_all": in_all,
        "results": results_of(campaign),
        "human": human_agreement(viewer, campaign),
        "before": before,
        "news": news_for(viewer, campaign, before) if before else [],
        "checked_at": now,
        "may_organize": organizes,
    }
    return render(request, "organizer/today.html", context)


def _asking(remarks: Sequence[Remark], opened: str) -> list[tuple[Remark, str, bool]]:
    """Return the remarks to answer, first the one whose form the address opens; its words, and whether it is that."""
    ordered = sorted(remarks, key=lambda remark: remark.public_id != opened)[:REMARKS_SHOWN]
    return [(remark, ASKS[RemarkKind(remark.kind)], remark.public_id == opened) for remark in ordered]
