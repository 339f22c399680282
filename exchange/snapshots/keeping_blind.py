"""Blindness of a campaign that was just loaded: its family, and the roles that its people may have in it."""

from django.db.models import QuerySet

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Membership, Task
from evaluation.rules.access import UNBLINDED_ROLES
from evaluation.services.people import copies_problem, lock_family
from evaluation.terms import Role
from exchange.models import LoadedCampaign, Snapshot
from exchange.snapshots.archive import SnapshotManifest


def keep_blind(
    manifest: SnapshotManifest, campaign: Campaign, snapshot: Snapshot | None
) -> tuple[Membership, ...]:
    """Join the campaign to its family; take back and return the roles that would unblind somebody there.

    Inside the transaction of the loading. Raises `Refused` where somebody would lose sight of what they see now.
    """
    if "family" not in manifest.tables["evaluation.Campaign"].columns:
        _join(campaign, manifest.slug, snapshot)
    lock_family(campaign.pk)  # nobody is given a role in the original meanwhile
    _check_sight(campaign)
    loaded = Membership.objects.filter(campaign=campaign).select_related("user").order_by("user__username")
    unblinding = [one for one in loaded if copies_problem(campaign, one.user, Role(one.role))]
    Membership.objects.filter(pk__in=[one.pk for one in unblinding]).delete()
    return tuple(unblinding)


def _join(campaign: Campaign, slug: str, snapshot: Snapshot | None) -> None:
    # Files of versions without families name none: the snapshot tells the family, else the short name.
    known = [snapshot.campaign] if snapshot else [*Campaign.objects.filter(slug=slug).exclude(pk=campaign.pk)]
    known += [one.campaign for one in LoadedCampaign.objects.filter(slug=slug).select_related("campaign")]
    if known:
        campaign.family = known[0].family
        campaign.save(update_fields=["family"])


def _check_sight(campaign: Campaign) -> None:
    # Whoever sees the original unblinded and has tasks in the copy would lose both.
    holders = _holding(Campaign.objects.filter(pk=campaign.pk))
    others = Campaign.objects.filter(family=campaign.family).exclude(pk=campaign.pk)
    seeing = Membership.objects.filter(campaign__in=others, role__in=UNBLINDED_ROLES).values("user")
    judging = Membership.objects.filter(campaign__in=others, role=Role.ASSESSOR).values("user")
    lost = User.objects.filter(pk__in=holders).filter(pk__in=seeing).exclude(pk__in=judging)
    names = lost.exclude(pk__in=_holding(others)).order_by("username").values_list("username", flat=True)
    if names:
        raise Refused(
            "holds_tasks",
            "Nothing was loaded. Each of these people sees a copy of this campaign unblinded and has tasks "
            f"in it here, so both would be closed to them: {', '.join(names)}. Take their roles away first.",
        )


def _holding(campaigns: QuerySet[Campaign]) -> set[int]:
    tasks = Task.objects.filter(campaign__in=campaigns).not_withdrawn()
    return set(tasks.values_list("assessor", flat=True))
