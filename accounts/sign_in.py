"""Differences from allauth's defaults: no sign-up without an invitation, and a lock with its duration."""

import logging
from typing import Any

from allauth.account import signals as account
from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.account.models import EmailAddress
from allauth.mfa import signals as factors
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount import signals as provider
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.core.exceptions import ValidationError
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.browsers import device_of
from accounts.caching import seal, unseal
from accounts.models import User
from accounts.tokens import refused_token_of
from web import audit_log
from web.audit_log import address_of

UNKNOWN = "unknown"
CHANGES = {
    user_logged_in: "account.signed_in",
    user_logged_out: "account.signed_out",
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


@receiver(user_login_failed)
def _failed(sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_rest: Any) -> None:
    record_attempt("account.login_failed", credentials, request)


def record_change(kind: str, user: User, request: HttpRequest | None, **fields: str | int | None) -> None:
    audit_log.record_if_possible(kind, actor=audit_log.actor_of(user), address=address_of(request), **fields)


def record_act(kind: str, about: User, request: HttpRequest) -> None:
    actor = audit_log.actor_of(request.user)
    audit_log.record_if_possible(kind, actor=actor, about=audit_log.actor_of(about), address=address_of(request))


@receiver(list(CHANGES))
def _changed(signal: Any, user: User | None, request: HttpRequest | None = None, **_rest: Any) -> None:
    if user is not None:  # a session without an account can be ended too
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
    token = refused_token_of(raw)
    actor = audit_log.actor_of(token.user) if token else UNKNOWN
    fields = {"token": token.pk} if token else {}
    audit_log.record_if_possible("account.token_refused", actor=actor, address=address_of(request), **fields)


def record_attempt(kind: str, credentials: dict[str, Any], request: HttpRequest | None) -> None:
    user = account_meant(credentials)
    # A name that is no account may be a password, typed in the wrong field: it stays out of the log.
    actor = audit_log.actor_of(user) if user else UNKNOWN
    audit_log.record_if_possible(kind, actor=actor, address=address_of(request))


def account_meant(credentials: dict[str, Any]) -> User | None:
    typed = {name: str(credentials[name]) for name in ("username", "email") if credentials.get(name)}
    for name, value in typed.items():
        # No database takes a NUL, and PostgreSQL would make an error of it.
        if "\0" in value:
            continue
        user = User.objects.filter(**{f"{name}__iexact": value.strip()}).order_by("pk").first()
        if not user and name == "email":
            addresses = EmailAddress.objects.filter(email__iexact=value.strip()).order_by("-verified", "pk")
            user = next((address.user for address in addresses.select_related("user")), None)
        if user:
            return user
    return None


PURPOSE = "second factor"
logger = logging.getLogger(__name__)


class InvitationOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> Any:
        """Closed: an evaluation's accounts are handed out, never taken."""
        return False

    def clean_username(self, username: str, shallow: bool = False) -> str:
        name = User.normalize_username(username)
        if not shallow and User(username=name).has_taken_name():
            raise self.validation_error("username_taken")
        return str(super().clean_username(name, shallow))

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        record_change("account.password_reset_requested", user, self.request)
        super().send_password_reset_mail(user, email, context)

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        try:
            super().send_notification_mail(*args, **kwargs)
        except OSError as error:  # of the connection, and of SMTP
            # The change has happened: a mail server that is away must not make an error of it.
            logger.error("A mail about a change of an account was not sent: %s.", error)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Key of the account, whether its name or an address was typed."""
        user = account_meant(credentials)
        if user is None:
            return str(super()._get_login_attempts_cache_key(request, **credentials)).strip()
        # A browser that the account has signed in with counts apart,
        # so that whoever tries passwords from elsewhere does not lock the person out of it.
        return device_of(request, user) or f"account:{user.pk}"

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            record_attempt("account.locked", credentials, request)
            # A middleware reads this and answers with 429.
            request.retry_after = settings.LOGIN_LOCK_SECONDS  # type: ignore[attr-defined]
            raise


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of codes are encrypted: a copy of the database alone opens no account."""

    def encrypt(self, text: str) -> str:
        return seal(PURPOSE, text)

    def decrypt(self, encrypted_text: str) -> str:
        return unseal(PURPOSE, encrypted_text)
