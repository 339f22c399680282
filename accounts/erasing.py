"""Taking the person out of an account: everything by which they are known or sign in goes, the row stays."""

import secrets

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.utils.timezone import now

from accounts.closing import close_account
from accounts.models import ApiToken, Invitation, User


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
    Invitation.objects.filter(accepted_by=user).update(email="")
    if user.email:
        Invitation.objects.filter(email__iexact=user.email).update(email="", revoked_at=now())
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
