"""How Assay differs from allauth's defaults: nobody signs up without an invitation, and a lock says how long."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest


class InvitationOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are made by who was invited, and by administrators."""

    def is_open_for_signup(self, request: HttpRequest) -> Any:
        """Closed: an evaluation's accounts are handed out, not taken."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Note on the request that there were too many attempts: a middleware answers with 429."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            request.retry_after = settings.LOGIN_LOCK_SECONDS  # type: ignore[attr-defined]
            raise
