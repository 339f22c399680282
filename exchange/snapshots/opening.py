"""Opening a snapshot as a job: a large one takes longer than a request may."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from evaluation.models import Campaign
from evaluation.queries.campaigns import unblinded
from exchange.background import OPENING, start_item
from exchange.models import LoadedCampaign, Snapshot
from jobs.models import WorkItem


@dataclass(frozen=True, slots=True)
class Opening:
    """How far a snapshot is with being opened: under way, failed for a reason, or there as a campaign."""

    waits: bool = False
    failed: str = ""
    campaign: Campaign | None = None


def order_opening(snapshot: Snapshot, actor: User) -> None:
    """Have a snapshot opened for somebody, unless that is under way."""
    if not openings([snapshot], actor)[snapshot.pk].waits:
        with transaction.atomic():
            start_item(OPENING, snapshot.pk, f"opening {snapshot.name}", actor)


def openings(snapshots: Iterable[Snapshot], viewer: User) -> dict[int, Opening]:
    """Progress of each snapshot's opening, by key. Campaigns that the viewer may not see are left out."""
    keys = [one.pk for one in snapshots]
    there = LoadedCampaign.objects.filter(snapshot__in=keys, campaign__in=unblinded(viewer))
    opened = {one.snapshot_id: one.campaign for one in there.select_related("campaign")}
    items = WorkItem.objects.filter(kind=OPENING, payload__about__in=keys).order_by("pk")
    last = {item.payload["about"]: item for item in items}
    return {key: _opening(last.get(key), opened.get(key)) for key in keys}


def _opening(item: WorkItem | None, campaign: Campaign | None) -> Opening:
    if item is None:
        return Opening(campaign=campaign)
    waits = item.state in (WorkItem.State.QUEUED, WorkItem.State.LEASED)
    return Opening(waits, item.reason if item.state == WorkItem.State.FAILED else "", campaign)
