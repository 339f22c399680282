"""What the job and label views start with: the thing asked for, or a 404."""

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
    """Return a campaign in which the viewer may run jobs; whoever may only look is told so."""
    campaign = get_campaign(viewer, slug)
    if not may_run_jobs(viewer, campaign):
        raise PermissionDenied
    return campaign


def get_job(viewer: User, slug: str, pk: int) -> tuple[Campaign, LlmJob]:
    """Return a job with its campaign."""
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, job_for(viewer, campaign, pk)


@dataclass(frozen=True, slots=True)
class EarlierOrder:
    """What an earlier job was asked for, and by which judge; no job where nothing is asked again."""

    order: dict[str, object]
    llm: LlmJob | None = None


def get_earlier_order(viewer: User, campaign: Campaign, pk: str) -> EarlierOrder:
    """Return what a job of this campaign was asked for, by the key in an address; nothing for any other key."""
    llm = (
        jobs_for(viewer, campaign).filter(pk=int(pk)).first() if pk.isdecimal() and len(pk) < LONGEST_KEY else None
    )
    order = order_of(llm) if llm else None
    return EarlierOrder(order, llm) if order else EarlierOrder({})


def get_job_to_change(viewer: User, slug: str, pk: int) -> tuple[Campaign, LlmJob]:
    """Return a job that the viewer may cancel and retry."""
    campaign = get_campaign_to_judge(viewer, slug)
    with missing_is_404():
        return campaign, job_for(viewer, campaign, pk)


def get_label(viewer: User, slug: str, kind: str, pk: int) -> tuple[Campaign, ShownLabel]:
    """Return a label with its campaign."""
    campaign = get_campaign(viewer, slug)
    read = provenance.assignment_for if kind == "assignment" else provenance.support_judgment_for
    with missing_is_404():
        return campaign, read(viewer, campaign, pk)


def get_answer(viewer: User, slug: str, pk: int) -> tuple[Campaign, AnswerProvenance]:
    """Return an answer, known by its run, with its campaign."""
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, provenance.answer_for(viewer, campaign, pk)


def get_list(viewer: User, slug: str, pk: int) -> tuple[Campaign, NuggetList]:
    """Return a nugget list with its campaign."""
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, origins.list_for(viewer, campaign, pk)


def get_nugget(viewer: User, slug: str, pk: int) -> tuple[Campaign, ShownNuggetOrigin]:
    """Return a nugget of a list, with its calls, with its campaign."""
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, origins.nugget_for(viewer, campaign, pk)


def get_grade(viewer: User, slug: str, pk: int) -> tuple[Campaign, ShownGradeOrigin]:
    """Return a relevance grade with its campaign."""
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, origins.grade_for(viewer, campaign, pk)


def get_call(viewer: User, slug: str, pk: int) -> tuple[Campaign, ShownCall]:
    """Return a call with its campaign."""
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, origins.call_for(viewer, campaign, pk)
