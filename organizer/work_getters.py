"""What the work views start with: the thing asked for, or a 404."""

from django.core.exceptions import PermissionDenied

from accounts.models import User
from evaluation.models import Campaign, Remark, Task
from evaluation.queries.work import may_organize, remark_for, task_for
from organizer.getters import get_campaign, missing_is_404


def get_campaign_to_organize(viewer: User, slug: str) -> Campaign:
    """Return a campaign in which the viewer may hand out work; whoever may only look is told so."""
    campaign = get_campaign(viewer, slug)
    if not may_organize(viewer, campaign):
        raise PermissionDenied
    return campaign


def get_task(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Task]:
    """Return a task with its campaign."""
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, task_for(viewer, campaign, public_id)


def get_task_to_change(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Task]:
    """Return a task that the viewer may change."""
    campaign = get_campaign_to_organize(viewer, slug)
    with missing_is_404():
        return campaign, task_for(viewer, campaign, public_id)


def get_remark_to_answer(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Remark]:
    """Return a remark that the viewer may answer."""
    campaign = get_campaign_to_organize(viewer, slug)
    with missing_is_404():
        return campaign, remark_for(viewer, campaign, public_id)
