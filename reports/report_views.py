"""The views of the report pages that share one form: a page, its tables and its pictures as files."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.models import Campaign
from evaluation.queries.runs import run_pks_for
from evaluation.queries.topics import topics_for
from reports.answering import get_campaign, is_dark, or_404, picture_response
from reports.downloads import TableForm, downloaded
from reports.packet_page import packet_archive
from reports.pictures import PictureForm
from reports.report_pages import KINDS, ReportName
from reports.showing import ReportPage


@require_safe
def reports(request: UserRequest, slug: str) -> HttpResponse:
    """Every report page, with a line on each."""
    context = {"campaign": get_campaign(request, slug), "kinds": list(KINDS.items())}
    return render(request, "reports/reports.html", context)


@require_safe
def report(request: UserRequest, slug: str, report: ReportName) -> HttpResponse:
    """A report page, everything chosen in the URL."""
    campaign = get_campaign(request, slug)
    page = KINDS[report].make(campaign, request.GET)

    def address_of(part: str, form: str) -> str:
        name = "reports:report_table" if form in list(TableForm) else "reports:report_picture"
        return reverse(name, args=[slug, report, part, form])

    archive = ""
    if report is ReportName.PACKET and page.found:
        archive = f"{reverse('reports:packet_archive', args=[slug])}?{page.form.link}"
    return page_response(request, campaign, page, report, address_of, archive)


@require_safe
def report_table(request: UserRequest, slug: str, report: ReportName, part: str, table: TableForm) -> HttpResponse:
    """A section of the same query string as a file."""
    page = KINDS[report].make(get_campaign(request, slug), request.GET)
    return table_response(page, part, table, f"{slug}-{report}")


@require_safe
def report_picture(
    request: UserRequest, slug: str, report: ReportName, part: str, picture: PictureForm
) -> HttpResponse:
    """A section's picture of the same query string; `theme=dark` for dark pages."""
    page = KINDS[report].make(get_campaign(request, slug), request.GET)
    return part_picture(request, page, part, picture)


@require_safe
def packet(request: UserRequest, slug: str) -> HttpResponse:
    """All that one group gets, as one ZIP."""
    archive, group = packet_archive(get_campaign(request, slug), request.GET)
    response = HttpResponse(archive, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{slug}-packet-{group}.zip"'
    return response


def page_response(
    request: UserRequest,
    campaign: Campaign,
    page: ReportPage,
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
        "run_keys": run_pks_for(request.user, campaign),
        "topic_keys": dict(topics_for(request.user, campaign).values_list("topic_id", "public_id")),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
        **(more or {}),
    }
    return render(request, template, context)


def table_response(page: ReportPage, part: str, form: TableForm, name: str) -> HttpResponse:
    """Return a section as a file. Raises `Http404` where there is none."""
    return downloaded(page.table(part), form, f"{name}-{part}")


def part_picture(request: UserRequest, page: ReportPage, part: str, form: PictureForm) -> HttpResponse:
    """Return a section's picture. Raises `Http404` where there is none."""
    picture = or_404(page.part(part).picture)
    return picture_response(picture.draw(is_dark(request)), form)
