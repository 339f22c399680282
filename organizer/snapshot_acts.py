"""What organizers do with snapshots. A refusal becomes an error of the form that asked."""

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign
from exchange.models import Snapshot
from exchange.snapshots.packing import Wish
from exchange.snapshots.service import take_snapshot
from organizer.snapshot_forms import SnapshotForm


def take_from(form: SnapshotForm, campaign: Campaign, actor: User) -> Snapshot | None:
    """Make the snapshot that the form asks for."""
    if not form.is_valid():
        return None
    said = form.cleaned_data
    wish = Wish(texts=not said["without_texts"], names=not said["pseudonyms"])
    try:
        return take_snapshot(campaign=campaign, name=said["name"], wish=wish, note=said["note"], actor=actor)
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return None
