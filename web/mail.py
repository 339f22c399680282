"""Mail server of this installation."""

from django.conf import settings

SILENT = {f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy")}


def sends_mail() -> bool:
    return settings.EMAIL_BACKEND not in SILENT
