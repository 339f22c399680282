"""A paused assessor keeps what they have and is given nothing new."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Membership
from evaluation.terms import Role


def pause(*, campaign: Campaign, username: str, paused: bool, actor: User) -> User:
    """Pause an assessor, or let them go on; return them. The same again changes nothing. Raises `Refused`."""
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)  # as where work is handed out
        mine = Membership.objects.filter(campaign=locked, user__username=username, role=Role.ASSESSOR)
        member = mine.select_related("user").first()
        if member is None:
            raise Refused("not_assessor", f"{username} is no assessor of this campaign.")
        if bool(member.paused_at) != paused:
            member.paused_at = timezone.now() if paused else None
            member.save(update_fields=["paused_at"])
            kind = "member.paused" if paused else "member.resumed"
            Event.objects.create(campaign=locked, kind=kind, actor=actor, payload={"user": member.user_id})
        return member.user
