"""Trust in an LLM's labels: agreement with people, and the quality of its replies."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.contents import findings_for
from evaluation.models import Campaign, Judge
from evaluation.terms import FindingCode
from llmjobs.job_status import JudgeSpending, Replies, judges_at_work, replies_by_judge, spending_by_judge
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer.access import get_campaign
from organizer.forms import page_of
from reports.confusion.page import HeatRow, heat_rows
from reports.confusion.paired_labels import ConfusionReport
from reports.quality.judges import JudgeAgreement, compared_with_people, judged_by_llms
from reports.quality.people import DifferingItem, PairOfPeople, Shared, read_differing, shared_by_people


@dataclass(frozen=True, slots=True)
class PeopleComparison:
    """A comparison with people, and its matrix ready to draw."""

    compared: JudgeAgreement
    heat: list[HeatRow]


@dataclass(frozen=True, slots=True)
class JudgeCard:
    judge: Judge
    comparisons: list[PeopleComparison]
    replies: Replies
    spending: JudgeSpending
    simulated: bool


@require_safe
def quality(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "cards": _cards(request.user, campaign),
        "addressing": findings_for(request.user, campaign, FindingCode.ADDRESSES_JUDGE).count(),
    }
    return render(request, "organizer/quality.html", context)


def _cards(viewer: User, campaign: Campaign) -> list[JudgeCard]:
    compared = compared_with_people(viewer, campaign)
    replies, spending = replies_by_judge(viewer, campaign), spending_by_judge(viewer, campaign)
    known = {judge.pk: judge for judge in [*judged_by_llms(viewer, campaign), *judges_at_work(viewer, campaign)]}
    return [
        JudgeCard(
            judge,
            [
                PeopleComparison(comparison, heat_rows(comparison.report))
                for comparison in compared.get(judge.pk, ())
            ],
            replies.get(judge.pk, Replies()),
            spending.get(judge.pk, JudgeSpending()),
            judge.model == SIMULATED_MODEL,
        )
        for judge in sorted(known.values(), key=lambda judge: judge.name)
    ]


DIFFERING_A_PAGE = 20


@dataclass(frozen=True, slots=True)
class OverlapSection:
    """One stage's overlap set, one pair of people looked at closer, and the items that differ."""

    shared: Shared
    pair: PairOfPeople | None
    report: ConfusionReport | None
    heat: list[HeatRow]
    page: Page[Any]
    rows: list[DifferingItem]
    parameter: str


@require_safe
def people_quality(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    sections = [_section(request, shared) for shared in shared_by_people(request.user, campaign)]
    return render(request, "organizer/people_quality.html", {"campaign": campaign, "sections": sections})


def _section(request: UserRequest, shared: Shared) -> OverlapSection:
    pair = shared.pair(request.GET.get(shared.stage.value, ""))
    report = shared.confusion(pair) if pair else None
    parameter = f"{shared.stage.value}-page"
    page = page_of(request, shared.differing().tolist(), DIFFERING_A_PAGE, parameter)
    rows = read_differing(shared, list(page.object_list))
    return OverlapSection(shared, pair, report, heat_rows(report) if report else [], page, rows, parameter)
