"""How Assay differs from allauth's defaults: nobody signs up without an invitation."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from accounts.auditing import record_attempt


class InvitationOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are made by organizers and administrators."""

    def is_open_for_signup(self, request: HttpRequest) -> Any:
        """Closed: an evaluation's accounts are handed out, not taken."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt; a lockout is recorded."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            record_attempt("account.locked", credentials, request)
            raise
