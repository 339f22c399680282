"""People of a campaign and their accounts, with a line of the audit log for each act of an administrator."""

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Lower
from django.utils.timezone import now

from accounts.closing import close_account, end_sessions, erase_account, new_pseudonym, open_account
from accounts.invitations import invitation_of, new_invitation, revoke_invitation, use_invitation
from accounts.models import Invitation, User
from evaluation.campaigns.access import within
from evaluation.campaigns.create import add_member
from evaluation.campaigns.pseudonyms import Hiding, spellings_of
from evaluation.errors import Refused
from evaluation.formats.languages import normalised
from evaluation.models import (
    Campaign,
    ConditionDefault,
    Event,
    Judge,
    Membership,
    NuggetSet,
    QrelSource,
    Study,
    Task,
)
from evaluation.models.judges import source_of
from evaluation.rules.tasks import UNBLINDED_ROLES, MemberFacts, giving_problem, taking_problem
from evaluation.terms import Role
from web import audit_log
from web.text import trimmed


def close_person(*, user: User, actor: User) -> None:
    """Close an account. Raises `Refused` where it is one's own."""
    _check(user, actor)
    close_account(user)
    # The audit log is a file outside the database, so it is written only after the change.
    _note_account("account.closed", user, actor)


def open_person(*, user: User, actor: User) -> None:
    """Open a closed account again. Raises `Refused` where its person was erased."""
    _check(user, actor)
    # Nobody can prove to be this person again: the name and address are gone.
    if user.erased_at:
        raise Refused("erased", "This person was erased: there is nobody to sign in.")
    open_account(user)
    _note_account("account.opened", user, actor)


def drop_second_factor(*, user: User, actor: User) -> None:
    _check(user, actor)
    with transaction.atomic():
        # A session that began with the lost factor must not outlive it.
        Authenticator.objects.filter(user=user).delete()
        end_sessions(user)
    _note_account("account.second_factor_dropped", user, actor)


def _check(user: User, actor: User) -> None:
    if not actor.is_superuser:
        raise Refused("administrators", "Only an administrator does this.")
    if user == actor:
        raise Refused("yourself", "Another administrator has to do this to your own account.")


def _note_account(kind: str, user: User, actor: User) -> None:
    audit_log.record_if_possible(kind, actor=audit_log.actor_of(actor), about=audit_log.actor_of(user))


def erase_person(*, user: User, confirmed: str, actor: User) -> str:
    """Erase somebody; return their pseudonym. There is no way back.

    `confirmed`: the username, typed by the administrator. Raises `Refused`; nothing has been written then.
    """
    if not actor.is_superuser:
        raise Refused("administrators", "Only an administrator erases a person.")
    if actor == user:
        raise Refused("yourself", "Another administrator has to erase you.")
    if user.erased_at:
        raise Refused("erased", "This person was erased already.")
    # Erasing has no way back, so one click is not enough.
    if confirmed.strip() != user.username:
        raise Refused("not_confirmed", f"Type {user.username} to confirm.")
    with transaction.atomic():
        pseudonym = new_pseudonym()
        _rename_judges(user, pseudonym)
        erase_account(user, pseudonym)
    _note_account("account.erased", user, actor)
    return pseudonym


def _rename_judges(user: User, pseudonym: str) -> None:
    # The judge that counts comes first and gets the bare pseudonym; study judges get it with a number.
    mine = Judge.objects.filter(user=user).order_by("aside", "pk")
    own = [judge.name for judge in mine if not judge.aside]
    hiding = Hiding(dict.fromkeys({*spellings_of(user), *own}, pseudonym))
    # A study names its person, so its campaign's reports have to be made anew too.
    touched = set(Study.objects.filter(person__user=user).values_list("campaign", flat=True))
    for judge in mine:
        name = _free(hiding.text(judge.name), pseudonym)
        # Defaults hold names, not keys: without this they would name a judge who is gone.
        ConditionDefault.objects.filter(judge=judge.name).update(judge=name)
        for nugget_set in NuggetSet.objects.filter(judge=judge):
            touched.add(nugget_set.campaign_id)
            set_name = hiding.text(nugget_set.name)
            defaults = ConditionDefault.objects.filter(campaign=nugget_set.campaign_id, nuggets=nugget_set.name)
            defaults.update(nuggets=set_name)
            nugget_set.name = set_name
            nugget_set.save(update_fields=["name"])
        sources = QrelSource.objects.filter(name=source_of(judge))
        touched.update(sources.values_list("campaign", flat=True))
        judge.name = name
        judge.save(update_fields=["name"])
        sources.update(name=source_of(judge))
    # Reports keep names in memory, under the revision.
    Campaign.objects.filter(pk__in=touched).update(revision=F("revision") + 1)


def _free(preferred: str, pseudonym: str) -> str:
    name, number = preferred, 1
    while Judge.objects.filter(name=name).exists():
        number += 1
        name = f"{pseudonym} {number}"
    return name


def give_role(*, campaign: Campaign, username: str, role: Role, actor: User, to_oneself: bool = False) -> User:
    """Give somebody who has an account a role; return them. The same role again changes nothing. Raises `Refused`.

    `to_oneself`: administrators may give themselves a role too.
    """
    with transaction.atomic():
        # Locked before the facts are read, so that a role in a copy cannot be given in between.
        locked = lock_family(campaign.pk)
        user = _account(username)
        _check_giving(locked, user, role, None if to_oneself else actor)
        add_member(campaign=locked, user=user, role=role, actor=actor)
    _note("account.role_given", locked, user, role, actor)
    return user


def service_account(*, campaign: Campaign, name: str, role: Role) -> User:
    """Return the account of a program, with a role in a campaign; made where there is none, without a password.

    Raises `Refused` where the name is a person's, or is none.
    """
    with transaction.atomic():
        locked = lock_family(campaign.pk)
        user = User.objects.filter(username__iexact=name).first() or _new_service_account(name)
        # A person signs in by a password, or by the address that a provider of identities vouches for.
        if user.has_usable_password() or user.email or user.is_staff or user.is_superuser or user.erased_at:
            raise Refused("name_taken", f"{user.username} is the account of a person: choose another name.")
        _check_giving(locked, user, role, None)
        add_member(campaign=locked, user=user, role=role)
    return user


def _new_service_account(name: str) -> User:
    user = User(username=name)
    user.set_unusable_password()
    try:
        user.full_clean()
    except ValidationError as error:
        raise Refused("usage", f"Name of the account: {' '.join(error.messages)}") from error
    user.save()
    return user


def problem_of_taking(*, campaign: Campaign, user: User, role: Role, actor: User) -> str:
    """Return why a role cannot be taken from somebody now; empty where it can."""
    # A closed account organizes nothing: with it alone, the campaign would have no organizer.
    organizers = Membership.objects.filter(campaign=campaign, role=Role.ORGANIZER, user__is_active=True).count()
    return taking_problem(role, member_facts(campaign, user, actor), organizers)


def take_role(*, campaign: Campaign, username: str, role: Role, actor: User) -> User:
    """Take a role from somebody; return them. Their work stays. Raises `Refused`."""
    with transaction.atomic():
        locked = lock_family(campaign.pk)
        user = _account(username)
        mine = Membership.objects.filter(campaign=locked, user=user, role=role)
        if not mine.exists():
            raise Refused("no_such_role", f"{user.name} is no {role} of this campaign.")
        why = problem_of_taking(campaign=locked, user=user, role=role, actor=actor)
        if why:
            raise Refused("role_stays", why)
        # Only the membership goes: work hangs on the account, and the event keeps the role for blindness.
        mine.delete()
        payload = {"user": user.pk, "role": role}
        Event.objects.create(campaign=locked, kind="member.removed", actor=actor, payload=payload)
    _note("account.role_taken", locked, user, role, actor)
    return user


def invite(*, campaign: Campaign, role: Role, email: str, actor: User, name: str = "") -> tuple[Invitation, str]:
    """Make a link that gives a role once; return the invitation and what the link carries. Raises `Refused`."""
    if email:
        _check_email(email)
    with transaction.atomic():
        invitation, raw = new_invitation(
            campaign_id=campaign.pk, role=role, email=email, name=trimmed(name), made_by=actor
        )
        payload = {"invitation": invitation.pk, "role": role, "by_mail": bool(email)}
        Event.objects.create(campaign=campaign, kind="invitation.made", actor=actor, payload=payload)
    inviter = audit_log.actor_of(actor)
    # Never the link: with it, a reader of the log could take the role.
    audit_log.record_if_possible("account.invited", actor=inviter, campaign=campaign.slug, role=role)
    return invitation, raw


def accept(*, raw: str, user: User) -> Campaign:
    """Give whoever opened an invitation its role, and use it up; return the campaign. Raises `Refused`.

    A role that may not be given to them by hand may not be given by a link either, and the inviter must still be
    organizer.
    """
    with transaction.atomic():
        invitation = invitation_of(raw)
        if invitation:  # the campaign first, as where roles are given
            lock_family(invitation.campaign_id)
        used = use_invitation(raw, user)
        campaign, role = used.campaign, Role(used.role)
        # Links outlive roles: an inviter who left must not let anybody in.
        if not _organizes(used.made_by, campaign):
            raise Refused("invitation", "Who invited you is no organizer of this campaign any more.")
        # The link was made before its taker was known, so blindness is checked only now.
        _check_giving(campaign, user, role, used.made_by)
        add_member(campaign=campaign, user=user, role=role, actor=used.made_by)
        payload = {"invitation": used.pk, "user": user.pk, "role": role}
        Event.objects.create(campaign=campaign, kind="invitation.accepted", actor=user, payload=payload)
    _note("account.role_given", campaign, user, role, used.made_by)
    return campaign


def withdraw_invitation(*, invitation: Invitation, actor: User) -> None:
    """Take an invitation back. Raises `Refused` for an invitation that was used or taken back."""
    with transaction.atomic():
        if not revoke_invitation(invitation):
            raise Refused("invitation", "This invitation was used or taken back already.")
        payload = {"invitation": invitation.pk}
        Event.objects.create(
            campaign_id=invitation.campaign_id, kind="invitation.revoked", actor=actor, payload=payload
        )
    audit_log.record_if_possible(
        "account.invitation_revoked", actor=audit_log.actor_of(actor), invitation=invitation.pk
    )


def lock_family(pk: int) -> Campaign:
    """Lock a campaign and all its copies, in the order of their keys; return the campaign.

    Two organizers may give one person contrary roles at the same time, one in the original and one in a copy.
    """
    family = Campaign.objects.filter(pk=pk).values("family")
    # One order of keys for everybody, or two organizers of a family would deadlock on PostgreSQL.
    list(Campaign.objects.select_for_update().filter(family__in=family).order_by("pk"))
    return Campaign.objects.get(pk=pk)


def member_facts(campaign: Campaign, user: User, actor: User | None = None) -> MemberFacts:
    """Return roles and tasks of a person in a campaign and its copies; `unfinished` counts the campaign's own tasks.

    A copy shows the same answers with their runs, so a role in it unblinds for the original too, and the other way.
    """
    return _facts(campaign, Campaign.objects.filter(family=campaign.family), user, actor)


def copies_problem(campaign: Campaign, user: User, role: Role) -> str:
    """Return why a role in a new copy would break the blindness of the others; an empty text where it does not.

    Closed accounts are let in: a campaign's file brings the people of another server with it.
    """
    others = Campaign.objects.filter(family=campaign.family).exclude(pk=campaign.pk)
    return giving_problem(role, replace(_facts(campaign, others, user), active=True))


def _facts(campaign: Campaign, family: QuerySet[Campaign], user: User, actor: User | None = None) -> MemberFacts:
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
    unfinished = tasks.filter(campaign=campaign).unfinished()
    return MemberFacts(
        roles=frozenset(Role(role) for role in {*here, *held}),
        judged=tasks.exists(),
        unfinished=unfinished.count(),
        administrator=user.is_staff or user.is_superuser,
        active=user.is_active,
        is_actor=actor == user,
    )


def _check_giving(campaign: Campaign, user: User, role: Role, actor: User | None) -> None:
    why = giving_problem(role, member_facts(campaign, user, actor))
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
    audit_log.record_if_possible(
        kind, actor=audit_log.actor_of(actor), campaign=campaign.slug, about=audit_log.actor_of(user), role=role
    )


@dataclass(frozen=True, slots=True)
class Person:
    """One member, or somebody who holds tasks and has no role any more.

    `removable`: roles that the viewer is offered to take away: none of their own, and not the last organizer's.
    """

    pk: int
    username: str
    name: str
    email: str
    active: bool
    administrator: bool
    roles: tuple[Role, ...]
    removable: tuple[Role, ...]
    second_factor: bool
    last_login: datetime | None
    languages: str

    @property
    def assesses(self) -> bool:
        """True for people who may be handed work, so that what they read matters."""
        return Role.ASSESSOR in self.roles


def people_for(viewer: User, campaign: Campaign) -> list[Person]:
    seen = within(viewer, campaign)
    roles: dict[int, set[str]] = defaultdict(set)
    languages: dict[int, str] = {}
    for user, role, tags in Membership.objects.filter(campaign__in=seen).values_list("user", "role", "languages"):
        roles[user].add(role)
        languages[user] = languages.get(user, "") or tags
    holders = Task.objects.filter(campaign__in=seen).not_withdrawn().values_list("assessor", flat=True)
    users = User.objects.filter(pk__in={*roles, *holders.distinct().order_by()})
    secured = set(Authenticator.objects.filter(user__in=users).values_list("user", flat=True))
    organizers = sum(user.is_active and Role.ORGANIZER in roles[user.pk] for user in users)
    people = [
        Person(
            pk=user.pk,
            username=user.username,
            name=user.name,
            email=user.email,
            active=user.is_active,
            administrator=user.is_staff or user.is_superuser,
            roles=tuple(role for role in Role if role in roles[user.pk]),
            removable=tuple(role for role in _removable(viewer, user, organizers) if role in roles[user.pk]),
            second_factor=user.pk in secured,
            last_login=user.last_login,
            languages=languages.get(user.pk, ""),
        )
        for user in users
    ]
    return sorted(people, key=lambda person: (person.name.casefold(), person.username))


def _removable(viewer: User, user: User, organizers: int) -> list[Role]:
    if user == viewer:
        return []
    return [role for role in Role if role is not Role.ORGANIZER or organizers > 1 or not user.is_active]


def member_for(viewer: User, campaign: Campaign, pk: int, role: str) -> User:
    members = Membership.objects.filter(campaign__in=within(viewer, campaign), role=role)
    return User.objects.get(pk=pk, pk__in=members.values("user"))


def unfinished_tasks_of(viewer: User, campaign: Campaign, user: User) -> list[Task]:
    mine = Task.objects.filter(campaign__in=within(viewer, campaign), assessor=user)
    unfinished = mine.unfinished().select_related("topic")
    return list(unfinished.order_by("topic__position", "stage"))


def invitations_for(viewer: User, campaign: Campaign) -> list[Invitation]:
    open_ones = Invitation.objects.select_related("made_by").filter(accepted_at=None, revoked_at=None)
    return list(open_ones.filter(campaign__in=within(viewer, campaign), expires_at__gt=now()))


def known_addresses(campaign: Campaign, addresses: Collection[str]) -> dict[str, str]:
    """Return, by address in small letters, why somebody need not be invited: they have an account or a link."""
    lower_case = {address.lower() for address in addresses}
    lowered = Invitation.objects.filter(
        campaign=campaign, accepted_at=None, revoked_at=None, expires_at__gt=now()
    ).annotate(address=Lower("email"))
    links = lowered.filter(address__in=lower_case).values_list("address", "role")
    reasons = {address: f"Invited already as {role}." for address, role in links}
    members = dict(Membership.objects.filter(campaign=campaign).values_list("user", "role"))
    for user in User.objects.annotate(address=Lower("email")).filter(address__in=lower_case):
        role = members.get(user.pk)
        reasons[user.email.lower()] = (
            f"{user.name} is {role} here already."
            if role
            else f"{user.name} has an account: give the role instead."
        )
    return reasons


def accounts_to_choose(actor: User) -> QuerySet[User]:
    """Return the accounts that a list proposes for a role: people of campaigns that the actor organizes.

    Whoever is in none of them is named by username, so that no list tells who else has an account here.
    """
    everybody = User.objects.filter(is_active=True).order_by("username")
    if actor.is_superuser:
        return everybody
    mine = Membership.objects.filter(user=actor, role=Role.ORGANIZER).values("campaign")
    with_me = Membership.objects.filter(campaign__in=mine).values("user")
    return everybody.filter(pk__in=with_me)


def invitation_for(viewer: User, campaign: Campaign, pk: int) -> Invitation:
    return Invitation.objects.get(campaign__in=within(viewer, campaign), pk=pk)


@dataclass(frozen=True, slots=True)
class AccountFacts:
    roles: tuple[Membership, ...]
    unfinished: int
    second_factor: bool


def account_facts(user: User) -> AccountFacts:
    mine = Membership.objects.filter(user=user).select_related("campaign").order_by("campaign__name", "role")
    unfinished = Task.objects.filter(assessor=user).unfinished()
    secured = Authenticator.objects.filter(user=user).exists()
    return AccountFacts(tuple(mine), unfinished.count(), secured)


MOST = 50


def lock_assessor(campaign: Campaign, username: str) -> tuple[Campaign, Membership]:
    """Return the campaign, locked, and somebody's membership as its assessor. Raises `Refused`."""
    # Handing out locks the campaign too: nobody is given work by facts that change meanwhile.
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    mine = Membership.objects.of_assessors().filter(campaign=locked, user__username=username)
    member = mine.select_related("user").first()
    if member is None:
        raise Refused("not_assessor", f"{username} is no assessor of this campaign.")
    return locked, member


def set_languages(*, campaign: Campaign, username: str, languages: str, actor: User | None) -> Membership:
    """Write which languages an assessor reads, none for any; the same again changes nothing. Raises `Refused`."""
    tags = " ".join(_tags(languages))
    with transaction.atomic():
        locked, member = lock_assessor(campaign, username)
        if member.languages != tags:
            payload = {"user": member.user_id, "before": member.languages, "languages": tags}
            member.languages = tags
            member.save(update_fields=["languages"])
            Event.objects.create(campaign=locked, kind="member.languages", actor=actor, payload=payload)
        return member


def set_campaign_language(*, campaign: Campaign, language: str, actor: User | None) -> str:
    """Write the language of topics that name none, empty for not known; return its tag. Raises `Refused`."""
    tag = _tag(language) if language.strip() else ""
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if locked.language != tag:
            payload = {"before": locked.language, "language": tag}
            Campaign.objects.filter(pk=locked.pk).update(language=tag, revision=F("revision") + 1)
            Event.objects.create(campaign=locked, kind="campaign.language", actor=actor, payload=payload)
    return tag


def _tags(languages: str) -> list[str]:
    tags = dict.fromkeys(_tag(language) for language in re.split(r"[\s,;]+", languages) if language)
    if len(tags) > MOST:
        raise Refused("bad_language", f"At most {MOST} languages.")
    return sorted(tags)


def _tag(text: str) -> str:
    tag = normalised(text)
    if tag is None:
        raise Refused("bad_language", f"A language is a tag such as en, ar or pt-BR, found {text[:40]}.")
    return tag
