"""What a campaign's figures rest on: what is reckoned is kept under it."""

from datetime import datetime

from evaluation.models import Campaign

State = tuple[datetime, int]
"""When a campaign was made, which tells databases apart, and its revision."""


def state_of(campaign: Campaign) -> State:
    """Return what a campaign's figures rest on."""
    return campaign.created_at, campaign.revision
