"""Agreement between people who labelled the same items."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from organizer import getters
from reports.confusion_page import HeatRow, heat_rows
from reports.confusions import ConfusionReport
from reports.overlapping import Differing, PairOfPeople, Shared, read_differing, shared_by_people

DIFFERING_A_PAGE = 20


@dataclass(frozen=True, slots=True)
class OverlapSection:
    """One stage's overlap set, one pair of people looked at closer, and the items that differ."""

    shared: Shared
    pair: PairOfPeople | None
    report: ConfusionReport | None
    heat: list[HeatRow]
    page: Page[Any]
    rows: list[Differing]
    parameter: str


@require_safe
def people_quality(request: UserRequest, slug: str) -> HttpResponse:
    campaign = getters.get_campaign(request.user, slug)
    sections = [_section(request, one) for one in shared_by_people(request.user, campaign)]
    return render(request, "organizer/people_quality.html", {"campaign": campaign, "sections": sections})


def _section(request: UserRequest, shared: Shared) -> OverlapSection:
    pair = shared.pair(request.GET.get(shared.stage.value, ""))
    report = shared.confusion(pair) if pair else None
    parameter = f"{shared.stage.value}-page"
    page = Paginator(shared.differing().tolist(), DIFFERING_A_PAGE).get_page(request.GET.get(parameter))
    rows = read_differing(shared, list(page.object_list))
    return OverlapSection(shared, pair, report, heat_rows(report) if report else [], page, rows, parameter)
