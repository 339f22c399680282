"""How Assay differs from allauth's defaults: nobody signs up without an invitation, and a lock says how long."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
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
