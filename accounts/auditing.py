"""Audit lines about accounts: sign-ins, failures, lockouts and changes, never typed text."""

from typing import Any

from allauth.account import signals as account
from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.mfa import signals as factors
from allauth.mfa.models import Authenticator
from allauth.socialaccount import signals as provider
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.models import User
from accounts.tokens import refused_token_of
from web import audit
from web.auditing import address_of

UNKNOWN = "unknown"
CHANGES = {
    account.password_set: "account.password_changed",
    account.password_changed: "account.password_changed",
    account.password_reset: "account.password_reset",
    account.email_added: "account.email_added",
    account.email_changed: "account.email_changed",
    account.email_removed: "account.email_removed",
}
FACTOR_CHANGES = {
    factors.authenticator_added: "account.factor_added",
    factors.authenticator_reset: "account.factor_renewed",
    factors.authenticator_removed: "account.factor_removed",
    factors.authentication_failed: "account.factor_failed",
}


@receiver(user_logged_in)
def _signed_in(sender: Any, user: User, request: HttpRequest | None = None, **_rest: Any) -> None:
    audit.record_if_possible("account.signed_in", actor=audit.actor_of(user), address=address_of(request))


@receiver(user_logged_out)
def _signed_out(sender: Any, user: User | None, request: HttpRequest | None = None, **_rest: Any) -> None:
    if user is not None:
        audit.record_if_possible("account.signed_out", actor=audit.actor_of(user), address=address_of(request))


@receiver(user_login_failed)
def _failed(sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_rest: Any) -> None:
    record_attempt("account.login_failed", credentials, request)


def record_change(kind: str, user: User, request: HttpRequest | None, **fields: str | int | None) -> None:
    audit.record_if_possible(kind, actor=audit.actor_of(user), address=address_of(request), **fields)


def record_act(kind: str, about: User, request: HttpRequest) -> None:
    actor = audit.actor_of(request.user)
    audit.record_if_possible(kind, actor=actor, about=audit.actor_of(about), address=address_of(request))


@receiver(list(CHANGES))
def _changed(signal: Any, user: User, request: HttpRequest | None = None, **_rest: Any) -> None:
    record_change(CHANGES[signal], user, request)


@receiver(list(FACTOR_CHANGES))
def _factor_changed(
    signal: Any, user: User, authenticator: Authenticator, request: HttpRequest | None = None, **_rest: Any
) -> None:
    record_change(FACTOR_CHANGES[signal], user, request, factor=authenticator.type)


@receiver(account.email_confirmed)
def _address_verified(email_address: EmailAddress, request: HttpRequest | None = None, **_rest: Any) -> None:
    record_change("account.email_verified", email_address.user, request)


@receiver(account.email_added)
def _tell_of_new_address(user: User, email_address: EmailAddress, **_rest: Any) -> None:
    # Goes to the address that the account had: allauth tells of a changed and of a removed one only.
    context = {"added_email": email_address.email}
    get_adapter().send_notification_mail("account/email/email_added", user, context)


@receiver(account.email_removed)
def _tell_removed_address(user: User, email_address: EmailAddress, **_rest: Any) -> None:
    # Goes to the address that is gone; allauth tells the one that stays.
    context = {"deleted_email": email_address.email}
    get_adapter().send_notification_mail("account/email/email_deleted", user, context, email=email_address.email)


@receiver(provider.social_account_added)
def _provider_linked(sociallogin: SocialLogin, request: HttpRequest | None = None, **_rest: Any) -> None:
    record_change("account.provider_linked", sociallogin.user, request, provider=sociallogin.account.provider)


@receiver(provider.social_account_removed)
def _provider_unlinked(socialaccount: SocialAccount, request: HttpRequest | None = None, **_rest: Any) -> None:
    record_change("account.provider_unlinked", socialaccount.user, request, provider=socialaccount.provider)


def record_refused_token(raw: str, request: HttpRequest) -> None:
    """Record a refused token, by its owner where it was good once."""
    token = refused_token_of(raw)
    actor = audit.actor_of(token.user) if token else UNKNOWN
    fields = {"token": token.pk} if token else {}
    audit.record_if_possible("account.token_refused", actor=actor, address=address_of(request), **fields)


def record_attempt(kind: str, credentials: dict[str, Any], request: HttpRequest | None) -> None:
    """Record an attempt by the account meant."""
    user = account_meant(credentials)
    # A name that is no account may be a password, typed in the wrong field: it stays out of the log.
    actor = audit.actor_of(user) if user else UNKNOWN
    audit.record_if_possible(kind, actor=actor, address=address_of(request))


def account_meant(credentials: dict[str, Any]) -> User | None:
    """Account by its name or an address, in any case."""
    typed = {name: str(credentials[name]) for name in ("username", "email") if credentials.get(name)}
    for name, value in typed.items():
        # No database takes a NUL, and PostgreSQL would make an error of it.
        if "\0" in value:
            continue
        user = User.objects.filter(**{f"{name}__iexact": value.strip()}).order_by("pk").first()
        if not user and name == "email":
            shown = EmailAddress.objects.filter(email__iexact=value.strip()).order_by("-verified", "pk")
            user = next((one.user for one in shown.select_related("user")), None)
        if user:
            return user
    return None
