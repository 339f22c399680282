"""The report pages."""

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.models import Campaign
from evaluation.queries.campaigns import unblinded_campaign_for
from evaluation.queries.runs import run_pks_for
from reports import charts
from reports.documents import correlation_table, standings_table
from reports.downloads import TableForm, downloaded
from reports.leaderboard_page import leaderboard_page
from reports.pages import agreement_page
from reports.pictures import CONTENT_TYPES, PictureForm, drawn


@require_safe
def leaderboard(request: UserRequest, slug: str) -> HttpResponse:
    """Runs by score under one condition, everything chosen in the URL."""
    campaign = _campaign(request, slug)
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
    page = leaderboard_page(_campaign(request, slug), request.GET)
    if page.found is None:
        raise Http404
    return _picture(charts.ranking(page.shown, page.found.score, dark=_is_dark(request)), picture)


@require_safe
def leaderboard_table(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """The runs of the same query string as a file."""
    page = leaderboard_page(_campaign(request, slug), request.GET)
    if page.found is None:
        raise Http404
    return downloaded(standings_table(page), table, f"{slug}-leaderboard")


@require_safe
def agreement(request: UserRequest, slug: str) -> HttpResponse:
    """How far two conditions agree, everything chosen in the URL."""
    campaign = _campaign(request, slug)
    page = agreement_page(campaign, request.GET)
    context = {
        "campaign": campaign,
        "page": page,
        "drawn": len(charts.drawn_points(page.correlation)) if page.correlation else 0,
        "run_pks": run_pks_for(request.user, campaign),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
    }
    return render(request, "reports/agreement.html", context)


@require_safe
def scatter(request: UserRequest, slug: str, picture: PictureForm) -> HttpResponse:
    """The scatter of the same query string as a picture; `theme=dark` for dark pages."""
    page = agreement_page(_campaign(request, slug), request.GET)
    if page.correlation is None:
        raise Http404
    return _picture(charts.scatter(page.correlation, dark=_is_dark(request)), picture)


@require_safe
def agreement_table(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    """The three taus of the same query string as a file; as JSON with the runs."""
    page = agreement_page(_campaign(request, slug), request.GET)
    if page.correlation is None:
        raise Http404
    return downloaded(correlation_table(page.correlation), table, f"{slug}-agreement")


def _picture(specification: str, picture: PictureForm) -> HttpResponse:
    return HttpResponse(drawn(specification, picture), content_type=CONTENT_TYPES[picture])


def _is_dark(request: UserRequest) -> bool:
    return request.GET.get("theme") == "dark"


def _campaign(request: UserRequest, slug: str) -> Campaign:
    try:
        return unblinded_campaign_for(request.user, slug)
    except ObjectDoesNotExist:
        raise Http404 from None
