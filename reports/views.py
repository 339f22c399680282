"""The report pages: one view each for a page, a table and a picture, whichever report it is.

A new report is a module with a function from campaign and query to `Report`, and a line in `REPORTS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from assessor.progress.matrix import may_organize
from evaluation.campaigns.access import unblinded_campaign_for
from evaluation.corpus.topics import topics_for
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.studies import study_for
from evaluation.terms import DrawKind, StudyKind
from reports.agreement.page import agreement_page
from reports.charts import as_file, on_page
from reports.confusion.page import confusion_page
from reports.files import PICTURE_TYPES, PictureForm, TableForm, downloaded, drawn
from reports.group_report import group_report_page
from reports.leaderboard.length import length_page
from reports.leaderboard.page import NO_COLUMNS, doubtful_answers, leaderboard_page
from reports.metrics.scores import DOUBTS
from reports.nuggets.descriptives import descriptives_page
from reports.nuggets.page import nuggets_page
from reports.random_checks.drawing import grow_runs
from reports.random_checks.page import CheckedReport, complete_checks
from reports.report import Report, counted
from reports.support import support_page
from reports.timing.page import time_page

LEADERBOARD, AGREEMENT, CONFUSION = "leaderboard", "agreement", "confusion"
SUPPORT = "support"
COLUMNS = "columns"


def get_campaign(request: UserRequest, slug: str) -> Campaign:
    """Return a campaign that the viewer may see unblinded, or answer 404: a 403 would say that it exists."""
    try:
        return unblinded_campaign_for(request.user, slug)
    except ObjectDoesNotExist:
        raise Http404 from None


@dataclass(frozen=True, slots=True)
class ReportKind:
    make: Callable[[Campaign, QueryDict], Report]
    template: str = "reports/report.html"


REPORTS = {
    "descriptives": ReportKind(descriptives_page),
    "nuggets": ReportKind(nuggets_page),
    SUPPORT: ReportKind(support_page, "reports/support.html"),
    "length": ReportKind(length_page),
    "time": ReportKind(time_page),
    "group-report": ReportKind(group_report_page, "reports/group_report.html"),
}
"""By the name in the address, below `reports/`."""

KINDS = REPORTS | {
    LEADERBOARD: ReportKind(leaderboard_page, "reports/leaderboard.html"),
    AGREEMENT: ReportKind(agreement_page, "reports/agreement.html"),
    CONFUSION: ReportKind(confusion_page, "reports/confusion.html"),
}


@require_safe
def report(request: UserRequest, slug: str, report: str) -> HttpResponse:
    campaign, kind = get_campaign(request, slug), KINDS[report]
    if report == LEADERBOARD and (address := _with_own_columns(request)):
        return redirect(address)
    page = kind.make(campaign, request.GET)
    more: dict[str, Any] = {}
    if isinstance(page, CheckedReport):
        more["may_organize"] = may_organize(request.user, campaign)
        kind_of_labels = StudyKind.SUPPORT if report == SUPPORT else StudyKind.ASSIGNMENT
        more["elsewhere"] = [] if page.checks else complete_checks(campaign, kind_of_labels)
    return page_response(request, campaign, page, report, template=kind.template, more=more)


def _with_own_columns(request: UserRequest) -> str | None:
    """Keep the columns that the address names for the person; without any, return the address with those kept."""
    if COLUMNS in request.GET:
        request.session[COLUMNS] = request.GET[COLUMNS]
        return None
    kept = request.session.get(COLUMNS, NO_COLUMNS)
    if kept == NO_COLUMNS:
        return None
    query = request.GET.copy()
    query[COLUMNS] = kept
    return f"{request.path}?{query.urlencode()}"


@require_safe
def doubts(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    page = leaderboard_page(campaign, request.GET)
    run = get_object_or_404(campaign.runs, run_id=request.GET.get("run", ""))
    doubt = request.GET.get("doubt", "")
    if doubt not in DOUBTS:
        raise Http404
    topics = {topic.topic_id: topic for topic in topics_for(request.user, campaign)}
    counts = doubtful_answers(page, run.run_id, doubt)
    answers = [(topics[topic], count) for topic, count in counts if topic in topics]
    context = {"campaign": campaign, "page": page, "run": run, "doubt": doubt, "answers": answers}
    return render(request, "reports/doubts.html", context)


@require_POST
def judge_more(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign = get_campaign(request, slug)
    if not may_organize(request.user, campaign):
        raise PermissionDenied
    try:
        check = study_for(request.user, campaign, pk)
    except ObjectDoesNotExist:
        raise Http404 from None
    runs, numbers = request.POST.getlist("run"), request.POST.getlist("number")
    are_numbers = len(runs) == len(numbers) and all(map(str.isdecimal, numbers))
    if check.draw != DrawKind.RANDOM or not runs or not are_numbers:
        raise Refused("usage", "Say of which runs of a random check how many pairs are to be drawn.")
    # A number to reach and not one to add: pressed twice, the button draws once.
    came = grow_runs(study=check, numbers=dict(zip(runs, map(int, numbers), strict=True)), actor=request.user)
    messages.success(request, f"Drawn for {check}: {counted(came, 'pair')} more of {' and '.join(runs)}.")
    is_support = check.kind == StudyKind.SUPPORT
    view, args = ("reports:report", [slug, SUPPORT]) if is_support else ("reports:leaderboard", [slug])
    return redirect(f"{reverse(view, args=args)}?{request.GET.urlencode()}")


@require_safe
def report_table(request: UserRequest, slug: str, report: str, part: str, table: TableForm) -> HttpResponse:
    page = KINDS[report].make(get_campaign(request, slug), request.GET)
    return table_response(page, part, table, slug, report)


@require_safe
def report_picture(request: UserRequest, slug: str, report: str, part: str, picture: PictureForm) -> HttpResponse:
    page = KINDS[report].make(get_campaign(request, slug), request.GET)
    return part_picture(request, page, part, picture)


def page_response(
    request: UserRequest, campaign: Campaign, page: Report, name: str, template: str, more: Mapping[str, Any]
) -> HttpResponse:
    """Return a report as a page, whose files lie below its address; `more` is what its template shows besides."""
    context: dict[str, Any] = {
        "campaign": campaign,
        "page": page,
        "file_name": f"{campaign.slug}-{name}",
        # Most pages name runs or topics, not both: keys that no cell asks for cost no query.
        "run_keys": SimpleLazyObject(lambda: dict(campaign.runs.values_list("run_id", "pk"))),
        "topic_keys": SimpleLazyObject(
            lambda: dict(topics_for(request.user, campaign).values_list("topic_id", "public_id"))
        ),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
        **more,
    }
    return render(request, template, context)


def table_response(page: Report, part: str, form: TableForm, slug: str, name: str) -> HttpResponse:
    """Return a section as a file. Raises `Http404` where there is none."""
    section = page.section(part)
    return downloaded(page.table(section), form, f"{slug}-{section.file_name or f'{name}-{part}'}")


def part_picture(request: UserRequest, page: Report, part: str, form: PictureForm) -> HttpResponse:
    """Return a section's picture. Raises `Http404` where there is none."""
    chart = page.section(part).chart
    if chart is None:
        raise Http404
    # The theme is in the address: a page names the pictures of both, and the browser keeps them apart.
    specification = chart.draw(request.GET.get("theme") == "dark")
    finish = on_page if "theme" in request.GET else as_file
    return HttpResponse(drawn(finish(specification, chart.names), form), content_type=PICTURE_TYPES[form])
