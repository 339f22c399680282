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
