"""The report pages that have a form of their own: leaderboard and agreement."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.queries.runs import run_pks_for
from reports import charts
from reports.agreeing import curve_of
from reports.answering import get_campaign, is_dark, or_404, picture_response
from reports.binning import is_binned
from reports.charts_curve import curve
from reports.documents import answers_table, correlation_table, curve_table, standings_table
from reports.downloads import TableForm, downloaded
from reports.leaderboard_page import leaderboard_page
from reports.pages import agreement_page
from reports.pictures import PictureForm

WHOLE = "whole"
"""What of the query string asks for figures that a page leaves pending."""


@require_safe
def leaderboard(request: UserRequest, slug: str) -> HttpResponse:
    """Runs by score under one condition, everything chosen in the URL."""
    campaign = get_campaign(request, slug)
    context = {
        "campaign": campaign,
        "page": leaderboard_page(campaign, request.GET),
        "run_pks": run_pks_for(request.user, campaign),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
    }
    return render(request, "reports/leaderboard.html", context)


@require_safe
def ranking(request: UserRequest, slug: str, picture: PictureForm) -> HttpResponse:
    """The runs of the same query string as a picture; `theme=dark` for dark pages."""
    page = leaderboard_page(get_campaign(request, slug), request.GET)
    return picture_response(charts.ranking(page.shown, or_404(page.found).score, dark=is_dark(request)), picture)


@require_safe
def leaderboard_table(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """The runs of the same query string as a file."""
    page = leaderboard_page(get_campaign(request, slug), request.GET)
    or_404(page.found)
    return downloaded(standings_table(page), table, f"{slug}-leaderboard")


@require_safe
def agreement(request: UserRequest, slug: str) -> HttpResponse:
    """How far two conditions agree, everything chosen in the URL."""
    campaign = get_campaign(request, slug)
    page = agreement_page(campaign, request.GET, whole=WHOLE in request.GET)
    context = {
        "campaign": campaign,
        "page": page,
        "binned": page.correlation is not None and is_binned(page.correlation.points),
        "run_pks": run_pks_for(request.user, campaign),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
    }
    return render(request, "reports/agreement.html", context)


@require_safe
def scatter(request: UserRequest, slug: str, picture: PictureForm) -> HttpResponse:
    """The scatter of the same query string as a picture; `theme=dark` for dark pages."""
    correlation = agreement_page(get_campaign(request, slug), request.GET).correlation
    found = or_404(correlation if correlation and correlation.has_picture else None)
    return picture_response(charts.scatter(found, dark=is_dark(request)), picture)


@require_safe
def agreement_table(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """The three taus of the same query string as a file; as JSON with the runs."""
    found = or_404(agreement_page(get_campaign(request, slug), request.GET, whole=True).correlation)
    return downloaded(correlation_table(found), table, f"{slug}-agreement")


@require_safe
def answers_file(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """Every answer that has a score on both sides of the same query string, as a file."""
    found = or_404(agreement_page(get_campaign(request, slug), request.GET).correlation)
    return downloaded(answers_table(found), table, f"{slug}-answers")


@require_safe
def topics_picture(request: UserRequest, slug: str, picture: PictureForm) -> HttpResponse:
    """Tau by the number of topics; `theme=dark` for dark pages, `enough` for what pages show of it."""
    page = agreement_page(get_campaign(request, slug), request.GET)
    points = curve_of(or_404(page.requested))
    shown = page.enough(points) if "enough" in request.GET else points
    return picture_response(curve(shown, dark=is_dark(request)), picture)


@require_safe
def topics_file(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """Tau by the number of topics of the same query string as a file."""
    page = agreement_page(get_campaign(request, slug), request.GET)
    points = curve_of(or_404(page.requested))
    return downloaded(curve_table(or_404(page.correlation), points), table, f"{slug}-tau-by-topics")
