"""With `REQUIRE_MFA`, organizers and administrators need a second factor."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.models import User
from evaluation.campaigns.access import lacks_second_factor

OPEN = (
    "account_",
    "mfa_",
    "socialaccount_",
    "accounts:browsers",
    "accounts:end_browser",
    "accounts:notice",
    "organizer:invitation",
    "assessor:session",
    "healthz",
)


class SecondFactorMiddleware:
    """Redirects accounts that lack a required second factor to its set-up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        """Redirect before the view runs; only the set-up of a factor and signing out stay open."""
        if not settings.REQUIRE_MFA or not isinstance(request.user, User):
            return None
        match = request.resolver_match
        if (match and match.view_name.startswith(OPEN)) or not lacks_second_factor(request.user):
            return None
        if request.method != "GET" or request.path.startswith("/api/"):
            raise PermissionDenied("This account needs a second factor first.")
        messages.warning(request, "Organizers and administrators need a second factor here. Set one up to go on.")
        return redirect("mfa_index")
