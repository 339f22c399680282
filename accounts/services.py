"""Making accounts."""

from accounts.models import User
from accounts.notice import NOTICE_VERSION


def ensure_demo_user(*, username: str, full_name: str, password: str, administrator: bool = False) -> User:
    """Demo account; an existing one keeps its password."""
    first, _, last = full_name.partition(" ")
    user, made = User.objects.get_or_create(
        username=username,
        defaults={
            "first_name": first,
            "last_name": last,
            "email": f"{username}@example.org",
            "is_staff": administrator,
            "is_superuser": administrator,
            "demo": True,
            "notice_version": NOTICE_VERSION,  # they are made up, and nothing is recorded of anybody
        },
    )
    if made:
        user.set_password(password)
        user.save()
    return user
