"""Second factors that organizers and administrators may have to have."""

from allauth.mfa.models import Authenticator

from accounts.models import User
from evaluation.models import Membership
from evaluation.terms import Role

FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def lacks_second_factor(user: User) -> bool:
    """Whether somebody organizes or administers, and signs in with a password alone."""
    powerful = user.is_staff or user.is_superuser
    if not powerful and not Membership.objects.filter(user=user, role=Role.ORGANIZER).exists():
        return False
    return not Authenticator.objects.filter(user=user, type__in=FACTORS).exists()
