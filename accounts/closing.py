"""Closing an account, which keeps all its data, and opening it again."""

from django.db import transaction
from django.db.models import F

from accounts.models import User
from accounts.tokens import revoke_tokens_of


def end_sessions(user: User) -> None:
    """End every session of an account, the caller's own included."""
    User.objects.filter(pk=user.pk).update(session_epoch=F("session_epoch") + 1)
    user.refresh_from_db(fields=["session_epoch"])


def close_account(user: User) -> None:
    """End sessions and revoke tokens; the data stay."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(is_active=False)
        end_sessions(user)
        revoke_tokens_of(user)
    user.refresh_from_db(fields=["is_active"])


def open_account(user: User) -> None:
    """Old sessions and tokens stay ended."""
    User.objects.filter(pk=user.pk, erased_at=None).update(is_active=True)
    user.refresh_from_db(fields=["is_active"])
