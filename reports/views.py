"""The report pages that have a form of their own: leaderboard and agreement."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.campaigns.access import unblinded_campaign_for
from evaluation.corpus.topics import topics_for
from evaluation.models import Campaign
from reports import charts
from reports.agreement.figures import curve_of, is_binned
from reports.agreement.page import agreement_page, answers_table, correlation_table, curve_table
from reports.charts import curve
from reports.files import PICTURE_TYPES, PictureForm, TableForm, downloaded, drawn
from reports.leaderboard.length import length_page
from reports.leaderboard.page import leaderboard_page, standings_table
from reports.nuggets.descriptives import descriptives_page
from reports.nuggets.page import nuggets_page
from reports.packet import packet_archive, packet_page
from reports.report import Report
from reports.support import support_page
from reports.timing.page import time_page

Found = TypeVar("Found")


def get_campaign(request: UserRequest, slug: str) -> Campaign:
    """Return a campaign that the viewer may see unblinded, or answer 404."""
    try:
        return unblinded_campaign_for(request.user, slug)
    except ObjectDoesNotExist:
        raise Http404 from None


def or_404(found: Found | None) -> Found:
    """Return the page's content; a file of a page without any is not there."""
    if found is None:
        raise Http404
    return found


def is_dark(request: UserRequest) -> bool:
    return request.GET.get("theme") == "dark"


def picture_response(specification: str, picture: PictureForm) -> HttpResponse:
    return HttpResponse(drawn(specification, picture), content_type=PICTURE_TYPES[picture])


WHOLE = "whole"
"""What of the query string asks for figures that a page leaves pending."""


@require_safe
def leaderboard(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    context = {
        "campaign": campaign,
        "page": leaderboard_page(campaign, request.GET),
        "run_pks": dict(campaign.runs.values_list("run_id", "pk")),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
    }
    return render(request, "reports/leaderboard.html", context)


@require_safe
def ranking(request: UserRequest, slug: str, picture: PictureForm) -> HttpResponse:
    page = leaderboard_page(get_campaign(request, slug), request.GET)
    return picture_response(charts.ranking(page.shown, or_404(page.found).score, dark=is_dark(request)), picture)


@require_safe
def leaderboard_table(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    page = leaderboard_page(get_campaign(request, slug), request.GET)
    or_404(page.found)
    return downloaded(standings_table(page), table, f"{slug}-leaderboard")


@require_safe
def agreement(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    page = agreement_page(campaign, request.GET, whole=WHOLE in request.GET)
    context = {
        "campaign": campaign,
        "page": page,
        "binned": page.correlation is not None and is_binned(page.correlation.points),
        "run_pks": dict(campaign.runs.values_list("run_id", "pk")),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
    }
    return render(request, "reports/agreement.html", context)


@require_safe
def scatter(request: UserRequest, slug: str, picture: PictureForm) -> HttpResponse:
    correlation = agreement_page(get_campaign(request, slug), request.GET).correlation
    found = or_404(correlation if correlation and correlation.has_picture else None)
    return picture_response(charts.scatter(found, dark=is_dark(request)), picture)


@require_safe
def agreement_table(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    found = or_404(agreement_page(get_campaign(request, slug), request.GET, whole=True).correlation)
    return downloaded(correlation_table(found), table, f"{slug}-agreement")


@require_safe
def answers_file(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    found = or_404(agreement_page(get_campaign(request, slug), request.GET).correlation)
    return downloaded(answers_table(found), table, f"{slug}-answers")


@require_safe
def topics_picture(request: UserRequest, slug: str, picture: PictureForm) -> HttpResponse:
    page = agreement_page(get_campaign(request, slug), request.GET)
    points = curve_of(or_404(page.requested))
    shown = page.enough(points) if "enough" in request.GET else points
    return picture_response(curve(shown, dark=is_dark(request)), picture)


@require_safe
def topics_file(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    page = agreement_page(get_campaign(request, slug), request.GET)
    points = curve_of(or_404(page.requested))
    return downloaded(curve_table(or_404(page.correlation), points), table, f"{slug}-tau-by-topics")


class ReportName(StrEnum):
    """A report page as its address names it."""

    DESCRIPTIVES = "descriptives"
    NUGGETS = "nuggets"
    SUPPORT = "support"
    LENGTH = "length"
    TIME = "time"
    PACKET = "packet"


@dataclass(frozen=True, slots=True)
class ReportKind:
    """A report page: its title, what it is about, and what makes it from a campaign and a query string."""

    title: str
    line: str
    make: Callable[[Campaign, QueryDict], Report]


KINDS = {
    ReportName.DESCRIPTIVES: ReportKind(
        "Descriptives",
        "Topics, nuggets, words and labels of every nugget set and condition, as in the published tables.",
        descriptives_page,
    ),
    ReportName.NUGGETS: ReportKind(
        "Nuggets",
        "How often each nugget is found and by which runs, vital against okay, drafts against final lists.",
        nuggets_page,
    ),
    ReportName.SUPPORT: ReportKind(
        "Support of citations",
        "Precision and recall per run, topic and answer, labels by condition, over- and under-citation.",
        support_page,
    ),
    ReportName.LENGTH: ReportKind(
        "Length",
        "Score against length, with the runs that no shorter run beats.",
        length_page,
    ),
    ReportName.TIME: ReportKind(
        "Time",
        "How long topics took, by stage, topic and assessor, against the published hour and two and a half.",
        time_page,
    ),
    ReportName.PACKET: ReportKind(
        "Participant packet",
        "One group's scores topic by topic, with each topic's minimum, median and maximum over all runs.",
        packet_page,
    ),
}


@require_safe
def reports(request: UserRequest, slug: str) -> HttpResponse:
    context = {"campaign": get_campaign(request, slug), "kinds": list(KINDS.items())}
    return render(request, "reports/reports.html", context)


@require_safe
def report(request: UserRequest, slug: str, report: ReportName) -> HttpResponse:
    campaign = get_campaign(request, slug)
    page = KINDS[report].make(campaign, request.GET)

    def address_of(part: str, form: str) -> str:
        name = "reports:report_table" if form in list(TableForm) else "reports:report_picture"
        return reverse(name, args=[slug, report, part, form])

    archive = ""
    if report is ReportName.PACKET and page.content:
        archive = f"{reverse('reports:packet_archive', args=[slug])}?{page.form.link}"
    return page_response(request, campaign, page, report, address_of, archive)


@require_safe
def report_table(request: UserRequest, slug: str, report: ReportName, part: str, table: TableForm) -> HttpResponse:
    page = KINDS[report].make(get_campaign(request, slug), request.GET)
    return table_response(page, part, table, f"{slug}-{report}")


@require_safe
def report_picture(
    request: UserRequest, slug: str, report: ReportName, part: str, picture: PictureForm
) -> HttpResponse:
    page = KINDS[report].make(get_campaign(request, slug), request.GET)
    return part_picture(request, page, part, picture)


@require_safe
def packet(request: UserRequest, slug: str) -> HttpResponse:
    archive, group = packet_archive(get_campaign(request, slug), request.GET)
    response = HttpResponse(archive, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{slug}-packet-{group}.zip"'
    return response


def page_response(
    request: UserRequest,
    campaign: Campaign,
    page: Report,
    name: str,
    address_of: Callable[[str, str], str],
    archive: str = "",
    template: str = "reports/report.html",
    more: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """Return a report as a page; `address_of` has the address of a section as a file in some form.

    `more` is what the template of a page of its own shows besides.
    """
    context: dict[str, Any] = {
        "campaign": campaign,
        "page": page,
        "address_of": address_of,
        "file_name": f"{campaign.slug}-{name}",
        "archive": archive,
        "run_keys": dict(campaign.runs.values_list("run_id", "pk")),
        "topic_keys": dict(topics_for(request.user, campaign).values_list("topic_id", "public_id")),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
        **(more or {}),
    }
    return render(request, template, context)


def table_response(page: Report, part: str, form: TableForm, name: str) -> HttpResponse:
    """Return a section as a file. Raises `Http404` where there is none."""
    return downloaded(page.table(part), form, f"{name}-{part}")


def part_picture(request: UserRequest, page: Report, part: str, form: PictureForm) -> HttpResponse:
    """Return a section's picture. Raises `Http404` where there is none."""
    chart = or_404(page.section(part).chart)
    return picture_response(chart.draw(is_dark(request)), form)
