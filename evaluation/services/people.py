"""Who is in a campaign: roles given and taken, people invited. Each act is an event, and a line of the audit log."""

from dataclasses import replace

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet

from accounts.invitations import invitation_of, new_invitation, revoke_invitation, use_invitation
from accounts.models import Invitation, User
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Membership, Task
from evaluation.rules.access import UNBLINDED_ROLES
from evaluation.rules.people import Standing, giving_problem, taking_problem
from evaluation.rules.work import ACTIVE
from evaluation.services.campaigns import add_member
from evaluation.terms import Role, TaskState
from web import audit


def give_role(*, campaign: Campaign, username: str, role: Role, actor: User, to_oneself: bool = False) -> User:
    """Give somebody who has an account a role; return them. The same role again changes nothing. Raises `Refused`.

    `to_oneself`: administrators may give themselves a role too.
    """
    with transaction.atomic():
        locked = lock_family(campaign.pk)
        user = _account(username)
        _check_giving(locked, user, role, None if to_oneself else actor)
        add_member(campaign=locked, user=user, role=role, actor=actor)
    _note("account.role_given", locked, user, role, actor)
    return user


def problem_of_taking(*, campaign: Campaign, user: User, role: Role, actor: User) -> str:
    """Return why a role cannot be taken from somebody now; empty where it can."""
    organizers = Membership.objects.filter(campaign=campaign, role=Role.ORGANIZER, user__is_active=True).count()
    return taking_problem(role, standing_of(campaign, user, actor), organizers)


def take_role(*, campaign: Campaign, username: str, role: Role, actor: User) -> User:
    """Take a role from somebody; return them. What they did stays. Raises `Refused`."""
    with transaction.atomic():
        locked = lock_family(campaign.pk)
        user = _account(username)
        mine = Membership.objects.filter(campaign=locked, user=user, role=role)
        if not mine.exists():
            raise Refused("no_such_role", f"{user.name} is no {role} of this campaign.")
        why = problem_of_taking(campaign=locked, user=user, role=role, actor=actor)
        if why:
            raise Refused("role_stays", why)
        mine.delete()
        payload = {"user": user.pk, "role": role}
        Event.objects.create(campaign=locked, kind="member.removed", actor=actor, payload=payload)
    _note("account.role_taken", locked, user, role, actor)
    return user


def invite(*, campaign: Campaign, role: Role, email: str, actor: User) -> tuple[Invitation, str]:
    """Make a link that gives a role once; return the invitation and what the link carries. Raises `Refused`."""
    if email:
        _check_email(email)
    with transaction.atomic():
        made, raw = new_invitation(campaign_id=campaign.pk, role=role, email=email, made_by=actor)
        payload = {"invitation": made.pk, "role": role, "by_mail": bool(email)}
        Event.objects.create(campaign=campaign, kind="invitation.made", actor=actor, payload=payload)
    audit.record_if_possible("account.invited", actor=audit.actor_of(actor), campaign=campaign.slug, role=role)
    return made, raw


def accept(*, raw: str, user: User) -> Campaign:
    """Give whoever opened an invitation its role, and use it up; return the campaign. Raises `Refused`.

    What may not be given to them by hand may not be given by a link either, and the inviter must still be organizer.
    """
    with transaction.atomic():
        found = invitation_of(raw)
        if found:  # the campaign first, as where roles are given
            lock_family(found.campaign_id)
        used = use_invitation(raw, user)
        campaign, role = used.campaign, Role(used.role)
        if not _organizes(used.made_by, campaign):
            raise Refused("invitation", "Who invited you is no organizer of this campaign any more.")
        _check_giving(campaign, user, role, used.made_by)
        add_member(campaign=campaign, user=user, role=role, actor=used.made_by)
        payload = {"invitation": used.pk, "user": user.pk, "role": role}
        Event.objects.create(campaign=campaign, kind="invitation.accepted", actor=user, payload=payload)
    _note("account.role_given", campaign, user, role, used.made_by)
    return campaign


def withdraw_invitation(*, invitation: Invitation, actor: User) -> None:
    """Take an invitation back. One that was used or taken back is refused."""
    with transaction.atomic():
        if not revoke_invitation(invitation):
            raise Refused("invitation", "This invitation was used or taken back already.")
        payload = {"invitation": invitation.pk}
        Event.objects.create(
            campaign_id=invitation.campaign_id, kind="invitation.revoked", actor=actor, payload=payload
        )
    audit.record_if_possible("account.invitation_revoked", actor=audit.actor_of(actor), invitation=invitation.pk)


def lock_family(pk: int) -> Campaign:
    """Lock a campaign and all its copies, in the order of their keys; return the campaign.

    Two organizers may give one person contrary roles at the same time, one in the original and one in a copy.
    """
    family = Campaign.objects.filter(pk=pk).values("family")
    list(Campaign.objects.select_for_update().filter(family__in=family).order_by("pk"))
    return Campaign.objects.get(pk=pk)


def standing_of(campaign: Campaign, user: User, actor: User | None = None) -> Standing:
    """Return roles and tasks of a person in a campaign and its copies; `unfinished` counts the campaign's own tasks.

    A copy shows the same answers with their runs, so a role in it unblinds for the original too, and the other way.
    """
    return _standing(campaign, Campaign.objects.filter(family=campaign.family), user, actor)


def copies_problem(campaign: Campaign, user: User, role: Role) -> str:
    """Return why a role in a new copy would break the blindness of the others; an empty text where it does not.

    Closed accounts are let in: a campaign's file brings the people of another server with it.
    """
    others = Campaign.objects.filter(family=campaign.family).exclude(pk=campaign.pk)
    return giving_problem(role, replace(_standing(campaign, others, user), active=True))


def _standing(campaign: Campaign, family: QuerySet[Campaign], user: User, actor: User | None = None) -> Standing:
    here = Membership.objects.filter(campaign__in=family, user=user).values_list("role", flat=True)
    # An unblinding role counts for ever: what was seen cannot be unseen. A role that was loaded from a file has no
    # event of being given, only one of being taken.
    held = Event.objects.filter(
        campaign__in=family,
        kind__in=["member.added", "member.removed"],
        payload__user=user.pk,
        payload__role__in=list(UNBLINDED_ROLES),
    ).values_list("payload__role", flat=True)
    tasks = Task.objects.filter(campaign__in=family, assessor=user).not_withdrawn()
    unfinished = tasks.filter(campaign=campaign, state__in=[*ACTIVE, TaskState.BLOCKED])
    return Standing(
        roles=frozenset(Role(role) for role in {*here, *held}),
        judged=tasks.exists(),
        unfinished=unfinished.count(),
        administrator=user.is_staff or user.is_superuser,
        active=user.is_active,
        is_actor=actor == user,
    )


def _check_giving(campaign: Campaign, user: User, role: Role, actor: User | None) -> None:
    why = giving_problem(role, standing_of(campaign, user, actor))
    if why:
        raise Refused("role_not_given", why)


def _organizes(user: User, campaign: Campaign) -> bool:
    mine = Membership.objects.filter(campaign=campaign, user=user, role=Role.ORGANIZER)
    return user.is_active and (user.is_superuser or mine.exists())


def _account(username: str) -> User:
    user = User.objects.filter(username=username.strip()).first()
    if not user:
        raise Refused("no_such_account", f"There is no account {username}. Send an invitation instead.")
    return user


def _check_email(email: str) -> None:
    try:
        validate_email(email)
    except ValidationError as error:
        raise Refused("email", f"{email} is no email address.") from error


def _note(kind: str, campaign: Campaign, user: User, role: Role, actor: User) -> None:
    audit.record_if_possible(
        kind, actor=audit.actor_of(actor), campaign=campaign.slug, about=audit.actor_of(user), role=role
    )
