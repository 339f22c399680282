"""Results of practice, and the switch that asks for it."""

from dataclasses import dataclass

import numpy as np
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from evaluation.queries.practice import PersonRow, PracticeSet, practice_sets_for, replaced_items_for
from evaluation.queries.work import may_organize
from evaluation.services.practice import switch_practice
from organizer import getters, work_getters
from reports.metrics.confusion import Confusion, confusion


@dataclass(frozen=True, slots=True)
class PracticeResult:
    """An assessor's answers compared with the known labels."""

    person: PersonRow
    compared: Confusion


@require_safe
def practice(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, getters.get_campaign(request.user, slug)
    sets = practice_sets_for(viewer, campaign)
    context = {
        "campaign": campaign,
        "is_on": campaign.protocol.practice,
        "sets": [(one, _compared(one)) for one in sets],
        "replaced": replaced_items_for(viewer, campaign),
        "may_organize": may_organize(viewer, campaign),
    }
    return render(request, "organizer/practice.html", context)


@require_POST
def switch(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    on = request.POST.get("practice") == "on"
    switch_practice(campaign=campaign, on=on, actor=request.user)
    messages.success(request, "Practice is switched on." if on else "Practice is switched off.")
    return redirect("organizer:practice", campaign.slug)


def _compared(one: PracticeSet) -> list[PracticeResult]:
    pairs = [np.array(person.given, dtype=np.int8).reshape(-1, 2) for person in one.people]
    return [
        PracticeResult(person, confusion(own[:, 0], own[:, 1]))
        for person, own in zip(one.people, pairs, strict=True)
    ]
