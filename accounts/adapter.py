"""Differences from allauth's defaults: no sign-up without an invitation, and a lock with its duration."""

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from accounts.auditing import account_meant, record_attempt, record_change
from accounts.devices import device_of
from accounts.models import User
from accounts.sealing import seal, unseal

PURPOSE = "second factor"
logger = logging.getLogger(__name__)


class InvitationOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are made by invitations and by administrators."""

    def is_open_for_signup(self, request: HttpRequest) -> Any:
        """Closed: an evaluation's accounts are handed out, never taken."""
        return False

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Normal form of the name, for the sign-up by a provider."""
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
        """Count the attempt, and record a lockout."""
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
        """Decrypt with the current key or an earlier one."""
        return unseal(PURPOSE, encrypted_text)
