"""The report pages."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.queries.runs import run_pks_for
from reports import charts
from reports.answering import get_campaign, is_dark, picture_response
from reports.binning import is_binned
from reports.charts_curve import curve
from reports.documents import answers_table, correlation_table, curve_table, standings_table
from reports.downloads import TableForm, downloaded
from reports.leaderboard_page import leaderboard_page
from reports.pages import agreement_page, curve_of
from reports.pictures import PictureForm


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
    if page.found is None:
        raise Http404
    return picture_response(charts.ranking(page.shown, page.found.score, dark=is_dark(request)), picture)


@require_safe
def leaderboard_table(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """The runs of the same query string as a file."""
    page = leaderboard_page(get_campaign(request, slug), request.GET)
    if page.found is None:
        raise Http404
    return downloaded(standings_table(page), table, f"{slug}-leaderboard")


@require_safe
def agreement(request: UserRequest, slug: str) -> HttpResponse:
    """How far two conditions agree, everything chosen in the URL."""
    campaign = get_campaign(request, slug)
    page = agreement_page(campaign, request.GET)
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
    page = agreement_page(get_campaign(request, slug), request.GET)
    if page.correlation is None:
        raise Http404
    return picture_response(charts.scatter(page.correlation, dark=is_dark(request)), picture)


@require_safe
def agreement_table(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """The three taus of the same query string as a file; as JSON with the runs."""
    page = agreement_page(get_campaign(request, slug), request.GET)
    if page.correlation is None:
        raise Http404
    return downloaded(correlation_table(page.correlation), table, f"{slug}-agreement")


@require_safe
def answers_file(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """Every answer that has a score on both sides of the same query string, as a file."""
    page = agreement_page(get_campaign(request, slug), request.GET)
    if page.correlation is None:
        raise Http404
    return downloaded(answers_table(page.correlation), table, f"{slug}-answers")


@require_safe
def topics_picture(request: UserRequest, slug: str, picture: PictureForm) -> HttpResponse:
    """Tau by the number of topics of the same query string; `theme=dark` for dark pages."""
    campaign = get_campaign(request, slug)
    page = agreement_page(campaign, request.GET)
    if page.correlation is None:
        raise Http404
    return picture_response(curve(curve_of(campaign, page), dark=is_dark(request)), picture)


@require_safe
def topics_file(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """Tau by the number of topics of the same query string as a file."""
    campaign = get_campaign(request, slug)
    page = agreement_page(campaign, request.GET)
    if page.correlation is None:
        raise Http404
    points = curve_of(campaign, page)
    return downloaded(curve_table(page.correlation, points), table, f"{slug}-tau-by-topics")
