"""Closing an account, which keeps all its data, and opening it again."""

import secrets

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import F
from django.utils.timezone import now

from accounts.models import ApiToken, Invitation, User
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


def new_pseudonym() -> str:
    """Random name, never computed from the person."""
    while User.objects.filter(username=(name := f"person-{secrets.token_hex(4)}")).exists():
        pass
    return name


def erase_account(user: User, pseudonym: str) -> None:
    """Remove name, addresses, passwords, factors, tokens and sessions. Must run inside a transaction."""
    close_account(user)
    for model in (EmailAddress, Authenticator, SocialAccount, ApiToken):
        model.objects.filter(user=user).delete()
    Invitation.objects.filter(accepted_by=user).update(email="", name="")
    if user.email:
        Invitation.objects.filter(email__iexact=user.email).update(email="", name="", revoked_at=now())
    _rename_in_admin_log(user, pseudonym)
    user.username, user.first_name, user.last_name, user.email = pseudonym, "", "", ""
    user.desk_settings, user.last_login, user.erased_at = {}, None, now()
    user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()


def _rename_in_admin_log(user: User, pseudonym: str) -> None:
    # The log of Django's admin says in words whom an entry is about.
    kind = ContentType.objects.get_for_model(User)
    about = LogEntry.objects.filter(content_type=kind, object_id=str(user.pk))
    about.update(object_repr=pseudonym, change_message="")
    for entry in LogEntry.objects.filter(object_repr__startswith=f"{user.username} as "):
        entry.object_repr = pseudonym + entry.object_repr.removeprefix(user.username)
        entry.save(update_fields=["object_repr"])
