"""How Assay differs from allauth's defaults: nobody signs up without an invitation."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class InvitationOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are made by organizers and administrators."""

    def is_open_for_signup(self, request: HttpRequest) -> Any:
        """Closed: an evaluation's accounts are handed out, not taken."""
        return False
