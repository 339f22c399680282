"""Trust in an LLM's labels: agreement with people, and the quality of its replies."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.contents import findings_for
from evaluation.models import Campaign
from evaluation.terms import FindingCode
from llmjobs.job_status import JudgeSpending, Replies, judges_at_work, replies_by_judge, spending_by_judge
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer.access import get_campaign
from organizer.forms import page_of
from reports.confusion.paired_labels import heat_rows
from reports.quality.judges import compared_with_people, judged_by_llms
from reports.quality.people import Shared, read_differing, shared_by_people

DIFFERING_A_PAGE = 20


@require_safe
def quality(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "cards": _cards(request.user, campaign),
        "addressing": findings_for(request.user, campaign, FindingCode.ADDRESSES_JUDGE).count(),
    }
    return render(request, "organizer/quality.html", context)


def _cards(viewer: User, campaign: Campaign) -> list[dict[str, Any]]:
    """Cards of the LLM judges by name, each with its comparisons with people and the quality of its replies."""
    compared = compared_with_people(viewer, campaign)
    replies, spending = replies_by_judge(viewer, campaign), spending_by_judge(viewer, campaign)
    # A judge whose job gave no label yet, or whose labels were imported, has a card too.
    known = {judge.pk: judge for judge in [*judged_by_llms(viewer, campaign), *judges_at_work(viewer, campaign)]}
    return [
        {
            "judge": judge,
            "comparisons": [(found, heat_rows(found.report)) for found in compared.get(judge.pk, ())],
            "replies": replies.get(judge.pk, Replies()),
            "spending": spending.get(judge.pk, JudgeSpending()),
            "simulated": judge.model == SIMULATED_MODEL,
        }
        for judge in sorted(known.values(), key=lambda judge: judge.name)
    ]


@require_safe
def people_quality(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    sections = [_section(request, shared) for shared in shared_by_people(request.user, campaign)]
    return render(request, "organizer/people_quality.html", {"campaign": campaign, "sections": sections})


def _section(request: UserRequest, shared: Shared) -> dict[str, Any]:
    """A stage's overlap set, the pair of people looked at closer, and the items that differ."""
    pair = shared.pair(request.GET.get(shared.stage.value, ""))
    report = shared.confusion(pair) if pair else None
    # Each section turns its pages by a parameter of its own.
    parameter = f"{shared.stage.value}-page"
    page = page_of(request, shared.differing().tolist(), DIFFERING_A_PAGE, parameter)
    return {
        "shared": shared,
        "pair": pair,
        "report": report,
        "heat": heat_rows(report) if report else [],
        "page": page,
        # Only the items of this page are read with their texts.
        "rows": read_differing(shared, list(page.object_list)),
        "parameter": parameter,
    }
