"""Jobs, labels and calls for views; 404 where there is none."""

from dataclasses import dataclass

from django.core.exceptions import PermissionDenied

from accounts.models import User
from evaluation.models import AnswerProvenance, Campaign, NuggetList
from llmjobs import origins, provenance
from llmjobs.models import LlmJob
from llmjobs.ordering import order_of
from llmjobs.origins import ShownGradeOrigin, ShownNuggetOrigin
from llmjobs.provenance import ShownCall, ShownLabel
from llmjobs.queries import job_for, jobs_for, may_run_jobs
from organizer.getters import get_campaign, missing_is_404

LONGEST_KEY = 19


def get_campaign_to_judge(viewer: User, slug: str) -> Campaign:
    """Raises `PermissionDenied` for a viewer without the right to run jobs."""
    campaign = get_campaign(viewer, slug)
    if not may_run_jobs(viewer, campaign):
        raise PermissionDenied
    return campaign


def get_job(viewer: User, slug: str, pk: int) -> tuple[Campaign, LlmJob]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, job_for(viewer, campaign, pk)


@dataclass(frozen=True, slots=True)
class EarlierOrder:
    """Order and judge of an earlier job; without a job, the order is empty."""

    order: dict[str, object]
    llm: LlmJob | None = None


def get_earlier_order(viewer: User, campaign: Campaign, pk: str) -> EarlierOrder:
    """Order of the campaign's job by the key in an address; empty for any other key."""
    llm = (
        # A number that no key can be is an address of nothing, not an error of the database.
        jobs_for(viewer, campaign).filter(pk=int(pk)).first() if pk.isdecimal() and len(pk) < LONGEST_KEY else None
    )
    order = order_of(llm) if llm else None
    return EarlierOrder(order, llm) if order else EarlierOrder({})


def get_job_to_change(viewer: User, slug: str, pk: int) -> tuple[Campaign, LlmJob]:
    campaign = get_campaign_to_judge(viewer, slug)
    with missing_is_404():
        return campaign, job_for(viewer, campaign, pk)


def get_label(viewer: User, slug: str, kind: str, pk: int) -> tuple[Campaign, ShownLabel]:
    campaign = get_campaign(viewer, slug)
    read = provenance.assignment_for if kind == "assignment" else provenance.support_judgment_for
    with missing_is_404():
        return campaign, read(viewer, campaign, pk)


def get_answer(viewer: User, slug: str, pk: int) -> tuple[Campaign, AnswerProvenance]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, provenance.answer_for(viewer, campaign, pk)


def get_list(viewer: User, slug: str, pk: int) -> tuple[Campaign, NuggetList]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, origins.list_for(viewer, campaign, pk)


def get_nugget(viewer: User, slug: str, pk: int) -> tuple[Campaign, ShownNuggetOrigin]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, origins.nugget_for(viewer, campaign, pk)


def get_grade(viewer: User, slug: str, pk: int) -> tuple[Campaign, ShownGradeOrigin]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, origins.grade_for(viewer, campaign, pk)


def get_call(viewer: User, slug: str, pk: int) -> tuple[Campaign, ShownCall]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, origins.call_for(viewer, campaign, pk)
