"""Who may be given which role, and what stands against it."""

from dataclasses import dataclass

from evaluation.rules.access import UNBLINDED_ROLES
from evaluation.terms import Role


@dataclass(frozen=True, slots=True)
class Standing:
    """Roles and tasks of a person in a campaign and its copies. `judged`: a task of theirs was not withdrawn."""

    roles: frozenset[Role] = frozenset()
    judged: bool = False
    unfinished: int = 0
    administrator: bool = False
    active: bool = True
    is_actor: bool = False


def giving_problem(role: Role, one: Standing) -> str:
    """Return why somebody cannot be given a role; an empty text where they can.

    Whoever judges must never have seen whose answers they judge: not before, and not beside it.
    """
    if not one.active:
        return "This account is closed."
    if one.is_actor:
        return "Nobody gives a role to themselves: ask another organizer, or an administrator."
    if role is Role.ASSESSOR:
        return _judging_problem(one)
    if Role.ASSESSOR in one.roles or one.judged:
        return (
            "Who judges in a campaign, or has judged there, gets no role that shows whose answers they are, "
            "there or in a copy of it."
        )
    return ""


def _judging_problem(one: Standing) -> str:
    if one.administrator:
        return "An administrator can read everything, and so judges nothing."
    if any(role in UNBLINDED_ROLES for role in one.roles):
        return (
            "Who has seen whose answers they are, as organizer, researcher or auditor of this campaign or of "
            "a copy of it, does not judge them."
        )
    return ""


def taking_problem(role: Role, one: Standing, organizers: int) -> str:
    """Return why a role cannot be taken from somebody; an empty text where it can."""
    if role is Role.ASSESSOR and one.unfinished:
        return (
            "They hold an unfinished task: reassign or withdraw first, or let them finish."
            if one.unfinished == 1
            else f"They hold {one.unfinished} unfinished tasks: reassign or withdraw first, or let them finish."
        )
    if role is Role.ORGANIZER and organizers <= 1:
        return "They are the last organizer: make somebody else organizer first."
    return ""
