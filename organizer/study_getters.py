"""Studies for views; 404 where there is none."""

from accounts.models import User
from evaluation.models import Campaign, Study
from evaluation.queries.studies import study_for
from organizer.getters import get_campaign, missing_is_404
from organizer.jobs_getters import get_campaign_to_judge
from organizer.work_getters import get_campaign_to_organize


def get_study(viewer: User, slug: str, pk: int) -> tuple[Campaign, Study]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, study_for(viewer, campaign, pk)


def get_study_to_organize(viewer: User, slug: str, pk: int) -> tuple[Campaign, Study]:
    campaign = get_campaign_to_organize(viewer, slug)
    with missing_is_404():
        return campaign, study_for(viewer, campaign, pk)


def get_study_to_judge(viewer: User, slug: str, pk: int) -> tuple[Campaign, Study]:
    campaign = get_campaign_to_judge(viewer, slug)
    with missing_is_404():
        return campaign, study_for(viewer, campaign, pk)
