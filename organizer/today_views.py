"""The page of today."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.queries.work import may_organize
from organizer import getters
from organizer.today_page import today_for


@require_safe
@never_cache
def today(request: UserRequest, slug: str) -> HttpResponse:
    campaign = getters.get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "today": today_for(request.user, campaign),
        "may_organize": may_organize(request.user, campaign),
    }
    return render(request, "organizer/today.html", context)
