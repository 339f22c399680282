"""Trust in LLM judges: agreement with people beside that of people, and the quality of the judges' replies."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.findings import findings_for
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import Campaign
from evaluation.stages import STAGES
from evaluation.terms import FindingCode
from llmjobs.job_status import MoneySpent, Replies, judges_at_work, replies_by_judge, spending_by_judge
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer.access import get_campaign
from organizer.forms import page_of
from reports.confusion.paired_labels import heat_rows
from reports.needs import LABELS_BY_LLMS, LABELS_BY_TWO
from reports.quality.judges import compared_with_people, judged_by_llms, trust_of, versions_of
from reports.quality.people import Shared, read_differing, shared_by_people

DIFFERING_A_PAGE = 20
VERSIONS_SHOWN = 3


@require_safe
def quality(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    judges = _judges(request.user, campaign)
    context = {
        "campaign": campaign,
        "tasks": _tasks(campaign),
        "judges": judges,
        "label_figures": _label_figures(judges),
        "by_llms": LABELS_BY_LLMS,
        "by_two": LABELS_BY_TWO,
        "people": [_people(request, shared) for shared in shared_by_people(request.user, campaign)],
        "addressing": findings_for(request.user, campaign, FindingCode.ADDRESSES_JUDGE).count(),
    }
    return render(request, "organizer/quality.html", context)


def _tasks(campaign: Campaign) -> list[dict[str, Any]]:
    """Tasks that some LLM has labels in, each with a row per judge and the trend over its last versions."""
    trusts = [trust for tasks in trust_of(campaign).values() for trust in tasks]
    entries = []
    for task in (stage for stage in STAGES.values() if stage.study):
        by_judge = {trust.judge: trust for trust in trusts if trust.task is task}
        rows = []
        for judge, trust in sorted(by_judge.items(), key=lambda item: item[0].name):
            versions = versions_of(judge, by_judge)[-VERSIONS_SHOWN:]
            # One version has no trend.
            rows.append((trust, [by_judge[version] for version in versions] if len(versions) > 1 else []))
        if rows:
            entries.append({"stage": task, "rows": rows, "people": rows[0][0].people})
    return entries


def _label_figures(judges: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Comparisons with people by kind of label: the two kinds share words, so they share no table."""
    rows = [(row["judge"], compared) for row in judges for compared in row["comparisons"]]
    sets = []
    for labels in (NUGGET_LABELS, CITATION_LABELS):
        own = [(judge, compared) for judge, compared in rows if compared.report.labels == labels.scale]
        if own:
            sets.append({"of_citations": labels is CITATION_LABELS, "rows": own})
    return sets


def _judges(viewer: User, campaign: Campaign) -> list[dict[str, Any]]:
    """LLM judges by name, each with its comparisons with people and the quality of its replies."""
    compared = compared_with_people(viewer, campaign)
    replies, spending = replies_by_judge(viewer, campaign), spending_by_judge(viewer, campaign)
    # A judge whose job gave no label yet, or whose labels were imported, has a row too.
    by_key = {judge.pk: judge for judge in [*judged_by_llms(viewer, campaign), *judges_at_work(viewer, campaign)]}
    return [
        {
            "judge": judge,
            "comparisons": compared.get(judge.pk, ()),
            "replies": replies.get(judge.pk, Replies()),
            "spending": spending.get(judge.pk, MoneySpent()),
            "simulated": judge.model == SIMULATED_MODEL,
        }
        for judge in sorted(by_key.values(), key=lambda judge: judge.name)
    ]


def _people(request: UserRequest, shared: Shared) -> dict[str, Any]:
    """A task's items judged twice, the pair of people looked at closer, and the items that differ."""
    pair = shared.pair(request.GET.get(shared.stage, ""))
    report = shared.confusion(pair) if pair else None
    # Each task turns its pages by a parameter of its own.
    parameter = f"{shared.stage}-page"
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
        "unfolded": parameter in request.GET,
    }
