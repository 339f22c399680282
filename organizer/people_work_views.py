"""Work of assessors as a page and a file; and the switch that pauses a person."""

import csv

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from evaluation.queries.work import may_organize
from evaluation.services import pausing
from organizer import getters, work_getters
from organizer.people_work_page import csv_rows, people_work_for
from web.csv_cells import safe_cell


@require_safe
@never_cache
def people_work(request: UserRequest, slug: str) -> HttpResponse:
    campaign = getters.get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "page": people_work_for(request.user, campaign),
        "may_organize": may_organize(request.user, campaign),
    }
    return render(request, "organizer/people_work.html", context)


@require_safe
@never_cache
def people_work_file(request: UserRequest, slug: str) -> HttpResponse:
    campaign = getters.get_campaign(request.user, slug)
    name = f'attachment; filename="{slug}-people.csv"'
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers={"Content-Disposition": name})
    out = csv.writer(response)
    for row in csv_rows(people_work_for(request.user, campaign)):
        out.writerow([safe_cell(cell) for cell in row])
    return response


@require_POST
def pause(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    paused = request.POST.get("act") == "pause"
    username = request.POST.get("username", "")
    user = pausing.pause(campaign=campaign, username=username, paused=paused, actor=request.user)
    messages.success(
        request,
        f"{user.name} is paused: they keep what they have and get nothing new."
        if paused
        else f"{user.name} can be handed work again.",
    )
    return redirect("organizer:people_work", campaign.slug)
