"""What people are called where their names do not belong: the same within a campaign, another in each."""

import hmac
from hashlib import sha256

from evaluation.models import Campaign

SHOWN = 8


def pseudonym_of(campaign: Campaign, user_pk: int) -> str:
    """Return somebody's name in the data of a campaign.

    Without the campaign's salt, which never leaves the database, it does not lead back to the person, and not to the
    same person in another campaign.
    """
    digest = hmac.new(campaign.salt.encode(), str(user_pk).encode(), sha256).hexdigest()
    return f"person-{digest[:SHOWN]}"
