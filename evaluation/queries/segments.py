"""One segment to read, for organizers."""

from accounts.models import User
from evaluation.models import Campaign, Segment
from evaluation.queries.campaigns import within


def segment_for(viewer: User, campaign: Campaign, public_id: str) -> Segment:
    """Return one segment, or raise `Segment.DoesNotExist`."""
    return Segment.objects.get(campaign__in=within(viewer, campaign), public_id=public_id)
