"""The data catalogue of a campaign."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.queries.work import may_organize
from organizer import getters
from organizer.catalogue import catalogue_for


@require_safe
def catalogue(request: UserRequest, slug: str) -> HttpResponse:
    campaign = getters.get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "catalogue": catalogue_for(request.user, campaign),
        "server": request.build_absolute_uri("/").rstrip("/"),
        "may_organize": may_organize(request.user, campaign),
    }
    return render(request, "organizer/catalogue.html", context)
