"""Checks before real people sign in."""

from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.db import DatabaseError

from accounts.models import User


@register(deploy=True)
def no_demo_accounts(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Fail while an account with a published password exists. A database without tables has none."""
    try:
        names = list(User.objects.filter(demo=True).values_list("username", flat=True))
    except DatabaseError:
        return []
    if not names:
        return []
    text = f"Demo accounts exist, with a password that everybody knows: {', '.join(names)}."
    return [Error(text, hint="Use another database, or delete them.", id="accounts.E001")]
