"""Who may see and do what in a campaign."""

from collections.abc import Collection

from evaluation.terms import Role

UNBLINDED_ROLES = (Role.ORGANIZER, Role.RESEARCHER, Role.AUDITOR)


def sees_unblinded(roles: Collection[Role]) -> bool:
    """Say whether someone with these roles in a campaign may see whose answers and labels they are.

    Whoever assesses may not, whatever else they are.
    """
    return Role.ASSESSOR not in roles and any(role in UNBLINDED_ROLES for role in roles)
