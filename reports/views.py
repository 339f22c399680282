"""The report pages."""

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.models import Campaign
from evaluation.queries.campaigns import unblinded_campaign_for
from evaluation.queries.runs import run_pks_for
from reports.charts import drawn_points, scatter_svg
from reports.pages import agreement_page


@require_safe
def agreement(request: UserRequest, slug: str) -> HttpResponse:
    """How far two conditions agree, everything chosen in the URL."""
    campaign = _campaign(request, slug)
    page = agreement_page(campaign, request.GET)
    context = {
        "campaign": campaign,
        "page": page,
        "drawn": len(drawn_points(page.correlation)) if page.correlation else 0,
        "run_pks": run_pks_for(request.user, campaign),
    }
    return render(request, "reports/agreement.html", context)


@require_safe
def scatter(request: UserRequest, slug: str) -> HttpResponse:
    """The scatter of the same query string as a picture; `theme=dark` for dark pages."""
    page = agreement_page(_campaign(request, slug), request.GET)
    if page.correlation is None:
        raise Http404
    svg = scatter_svg(page.correlation, dark=request.GET.get("theme") == "dark")
    return HttpResponse(svg, content_type="image/svg+xml")


def _campaign(request: UserRequest, slug: str) -> Campaign:
    try:
        return unblinded_campaign_for(request.user, slug)
    except ObjectDoesNotExist:
        raise Http404 from None
