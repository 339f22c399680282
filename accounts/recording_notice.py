"""The notice of what is recorded of an assessor: version read, and when."""

from django.utils.timezone import now

from accounts.models import User

NOTICE_VERSION = 2
"""Goes up when templates/accounts/notice.html says something new; everybody is then asked to read it again."""


def has_read_notice(user: User) -> bool:
    return user.notice_version >= NOTICE_VERSION


def acknowledge_notice(user: User) -> None:
    """Record the reading; on a second one the first moment stays."""
    User.objects.filter(pk=user.pk, notice_version__lt=NOTICE_VERSION).update(
        notice_version=NOTICE_VERSION, notice_at=now()
    )
    user.refresh_from_db(fields=["notice_version", "notice_at"])


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
