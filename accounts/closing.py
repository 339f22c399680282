"""Closing an account, which keeps all its data, and opening it again."""

from django.db import transaction
from django.db.models import F

from accounts.models import User
from accounts.tokens import revoke_tokens_of


def end_sessions(user: User) -> None:
    """End every session of an account, wherever it is signed in. Who acts on their own is signed out as well."""
    User.objects.filter(pk=user.pk).update(session_epoch=F("session_epoch") + 1)
    user.refresh_from_db(fields=["session_epoch"])


def close_account(user: User) -> None:
    """Let nobody sign in to an account any more: its sessions end, its tokens are revoked, its data stay."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(is_active=False)
        end_sessions(user)
        revoke_tokens_of(user)
    user.refresh_from_db(fields=["is_active"])


def open_account(user: User) -> None:
    """Let somebody sign in again. Old sessions and tokens stay ended."""
    User.objects.filter(pk=user.pk, erased_at=None).update(is_active=True)
    user.refresh_from_db(fields=["is_active"])
