"""Imports and exports of a campaign for views; 404 where there is none."""

from accounts.models import User
from evaluation.models import Campaign
from exchange.models import Export, ImportAttempt
from organizer.getters import get_campaign, missing_is_404
from organizer.work_getters import get_campaign_to_organize


def get_attempt(viewer: User, slug: str, pk: int) -> tuple[Campaign, ImportAttempt]:
    campaign = get_campaign_to_organize(viewer, slug)
    with missing_is_404():
        return campaign, ImportAttempt.objects.select_related("campaign", "made_by").get(campaign=campaign, pk=pk)


def get_export(viewer: User, slug: str, pk: int) -> tuple[Campaign, Export]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, Export.objects.select_related("campaign", "snapshot").get(campaign=campaign, pk=pk)
