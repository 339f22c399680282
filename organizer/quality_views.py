"""Trust in an LLM's labels: agreement with people, and the quality of its replies."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.models import Campaign, Judge
from evaluation.queries.findings import findings_for
from evaluation.terms import FindingCode
from llmjobs.quality import JudgeSpending, Replies, judges_at_work, replies_by_judge, spending_by_judge
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer import getters
from reports.confusion_page import HeatRow, heat_rows
from reports.judging import Compared, compared_with_people, judged_by_llms


@dataclass(frozen=True, slots=True)
class PeopleComparison:
    """A comparison with people, and its matrix ready to draw."""

    compared: Compared
    heat: list[HeatRow]


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """One LLM judge."""

    judge: Judge
    comparisons: list[PeopleComparison]
    replies: Replies
    spending: JudgeSpending
    simulated: bool


@require_safe
def quality(request: UserRequest, slug: str) -> HttpResponse:
    campaign = getters.get_campaign(request.user, slug)
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
            [PeopleComparison(one, heat_rows(one.report)) for one in compared.get(judge.pk, ())],
            replies.get(judge.pk, Replies()),
            spending.get(judge.pk, JudgeSpending()),
            judge.model == SIMULATED_MODEL,
        )
        for judge in sorted(known.values(), key=lambda one: one.name)
    ]
