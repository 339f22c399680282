"""Tasks and remarks for views; 404 where there is none."""

from django.core.exceptions import PermissionDenied

from accounts.models import User
from evaluation.models import Campaign, Remark, Task
from evaluation.queries.work import may_organize, remark_for, task_for
from organizer.getters import get_campaign, missing_is_404


def get_campaign_to_organize(viewer: User, slug: str) -> Campaign:
    """Raises `PermissionDenied` for a viewer who may only look."""
    campaign = get_campaign(viewer, slug)
    if not may_organize(viewer, campaign):
        raise PermissionDenied
    return campaign


def get_task(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Task]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, task_for(viewer, campaign, public_id)


def get_task_to_change(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Task]:
    campaign = get_campaign_to_organize(viewer, slug)
    with missing_is_404():
        return campaign, task_for(viewer, campaign, public_id)


def get_remark_to_answer(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Remark]:
    campaign = get_campaign_to_organize(viewer, slug)
    with missing_is_404():
        return campaign, remark_for(viewer, campaign, public_id)
