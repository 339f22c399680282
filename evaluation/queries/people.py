"""The people of a campaign, for its organizers: roles, tasks, how they sign in; and who is invited."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from django.db.models import Count, Q, QuerySet
from django.utils.timezone import now

from accounts.models import Invitation, User
from evaluation.models import Campaign, Membership, Task
from evaluation.queries.campaigns import within
from evaluation.rules.work import ACTIVE
from evaluation.terms import Role, TaskState


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
    open_tasks: int
    submitted: int
    second_factor: bool
    last_login: datetime | None
    languages: str

    @property
    def assesses(self) -> bool:
        """Whether they may be handed work, so that what they read matters."""
        return Role.ASSESSOR in self.roles


def people_for(viewer: User, campaign: Campaign) -> list[Person]:
    """Return the campaign's people by name."""
    seen = within(viewer, campaign)
    roles: dict[int, set[str]] = defaultdict(set)
    languages: dict[int, str] = {}
    for user, role, tags in Membership.objects.filter(campaign__in=seen).values_list("user", "role", "languages"):
        roles[user].add(role)
        languages[user] = languages.get(user, "") or tags
    tasks = {row["assessor"]: row for row in _task_counts(seen)}
    found = User.objects.filter(pk__in={*roles, *tasks})
    secured = set(Authenticator.objects.filter(user__in=found).values_list("user", flat=True))
    organizers = sum(user.is_active and Role.ORGANIZER in roles[user.pk] for user in found)
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
            open_tasks=tasks.get(user.pk, {}).get("unfinished", 0),
            submitted=tasks.get(user.pk, {}).get("submitted", 0),
            second_factor=user.pk in secured,
            last_login=user.last_login,
            languages=languages.get(user.pk, ""),
        )
        for user in found
    ]
    return sorted(people, key=lambda one: (one.name.casefold(), one.username))


def _removable(viewer: User, user: User, organizers: int) -> list[Role]:
    if user == viewer:
        return []
    return [role for role in Role if role is not Role.ORGANIZER or organizers > 1 or not user.is_active]


def member_for(viewer: User, campaign: Campaign, pk: int, role: str) -> User:
    """Return a member who has a role, or raise `User.DoesNotExist`."""
    members = Membership.objects.filter(campaign__in=within(viewer, campaign), role=role)
    return User.objects.get(pk=pk, pk__in=members.values("user"))


def unfinished_tasks_of(viewer: User, campaign: Campaign, user: User) -> list[Task]:
    """Return the tasks that somebody has still to submit, blocked ones too."""
    mine = Task.objects.filter(campaign__in=within(viewer, campaign), assessor=user)
    unfinished = mine.filter(state__in=[*ACTIVE, TaskState.BLOCKED]).select_related("topic")
    return list(unfinished.order_by("topic__position", "stage"))


def _task_counts(campaigns: QuerySet[Campaign]) -> list[dict[str, Any]]:
    standing = Task.objects.filter(campaign__in=campaigns).not_withdrawn()
    unfinished = Count("pk", filter=Q(state__in=[*ACTIVE, TaskState.BLOCKED]))
    submitted = Count("pk", filter=Q(state=TaskState.SUBMITTED))
    counted = standing.order_by().values("assessor").annotate(unfinished=unfinished, submitted=submitted)
    return [dict(row) for row in counted]


def invitations_for(viewer: User, campaign: Campaign) -> list[Invitation]:
    """Return the campaign's open invitations, newest first."""
    open_ones = Invitation.objects.select_related("made_by").filter(accepted_at=None, revoked_at=None)
    return list(open_ones.filter(campaign__in=within(viewer, campaign), expires_at__gt=now()))


def invitation_for(viewer: User, campaign: Campaign, pk: int) -> Invitation:
    """Return one invitation, or raise `Invitation.DoesNotExist`."""
    return Invitation.objects.get(campaign__in=within(viewer, campaign), pk=pk)


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """What an administrator sees of an account beside its row."""

    roles: tuple[Membership, ...]
    unfinished: int
    second_factor: bool


def account_facts(user: User) -> AccountFacts:
    """Return an account's roles and unfinished work, for an administrator."""
    mine = Membership.objects.filter(user=user).select_related("campaign").order_by("campaign__name", "role")
    unfinished = Task.objects.filter(assessor=user, state__in=[*ACTIVE, TaskState.BLOCKED])
    secured = Authenticator.objects.filter(user=user).exists()
    return AccountFacts(tuple(mine), unfinished.count(), secured)
