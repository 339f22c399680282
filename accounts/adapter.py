"""How Assay differs from allauth's defaults: nobody signs up without an invitation, and a lock says how long."""

from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from accounts.auditing import record_attempt


class InvitationOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are made by who was invited, and by administrators."""

    def is_open_for_signup(self, request: HttpRequest) -> Any:
        """Closed: an evaluation's accounts are handed out, not taken."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt. A lockout is recorded, and noted on the request: a middleware answers with 429."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            record_attempt("account.locked", credentials, request)
            request.retry_after = settings.LOGIN_LOCK_SECONDS  # type: ignore[attr-defined]
            raise


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """What codes are made from is encrypted: a copy of the database alone opens no account."""

    def encrypt(self, text: str) -> str:
        """Encrypt with a key that comes from `SECRET_KEY`."""
        return _locks().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt what was encrypted with the key in force or one before it."""
        return _locks().decrypt(encrypted_text.encode()).decode()


def _locks() -> MultiFernet:
    keys = [str(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    return MultiFernet(
        [Fernet(urlsafe_b64encode(sha256(f"second factor {key}".encode()).digest())) for key in keys]
    )
