"""Rows for views; 404 where there is none or none that the viewer may see. The second factor, where it is required."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.deprecation import MiddlewareMixin

from accounts.models import User
from evaluation.campaigns.access import lacks_second_factor, unblinded_campaign_for
from evaluation.models import Campaign

Right = Callable[[User, Campaign], bool]
Params = ParamSpec("Params")
Key = TypeVar("Key")
Row = TypeVar("Row")

WITHOUT_FACTOR = (
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
"""Views that stay open without the factor: its set-up, signing out, and the session that a desk keeps its work by."""


def or_404(read: Callable[Params, Row], *args: Params.args, **kwargs: Params.kwargs) -> Row:
    # The same 404 for missing and for hidden rows, so that an address tells nothing about either.
    try:
        return read(*args, **kwargs)
    except ObjectDoesNotExist:
        raise Http404 from None


def get_campaign(viewer: User, slug: str, may: Right | None = None) -> Campaign:
    """Campaign that the viewer sees unblinded. Raises `PermissionDenied` where they lack the right `may`."""
    campaign = or_404(unblinded_campaign_for, viewer, slug)
    # After the 404: to a stranger, a page that only organizers may open must look like any missing one.
    if may and not may(viewer, campaign):
        raise PermissionDenied
    return campaign


def get_row(
    viewer: User, slug: str, read: Callable[[User, Campaign, Key], Row], key: Key, may: Right | None = None
) -> tuple[Campaign, Row]:
    campaign = get_campaign(viewer, slug, may)
    return campaign, or_404(read, viewer, campaign, key)


class SecondFactorMiddleware(MiddlewareMixin):
    """Redirects accounts that lack a required second factor to its set-up."""

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        if not settings.REQUIRE_MFA or not isinstance(request.user, User):
            return None
        match = request.resolver_match
        if (match and match.view_name.startswith(WITHOUT_FACTOR)) or not lacks_second_factor(request.user):
            return None
        # A form or a program cannot follow a redirect to a page for people, so it is refused.
        if request.method != "GET" or request.path.startswith("/api/"):
            raise PermissionDenied("This account needs a second factor first.")
        messages.warning(request, "Organizers and administrators need a second factor here. Set one up to go on.")
        return redirect("mfa_index")
