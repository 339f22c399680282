"""Requests in the audit log: every unblinded view, every act behind one, and every refusal.

Whatever a signed-in user is shown counts as unblinded, unless its address is named in `AUDIT_EXEMPT` or its view is
marked `blind`: a new room is recorded from its first day. Where the log cannot be written, these addresses answer 503,
because what nobody can trace nobody may look at. Desks are exempt, so that no judgment is ever lost to a full disk.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import ResolverMatch

from web import audit

SAFE = ("GET", "HEAD", "OPTIONS")
NOT_MODIFIED = 304
TURNED_AWAY = (403, 404, 429)
UNAVAILABLE = 503

View = TypeVar("View", bound=Callable[..., Any])


def blind(view: View) -> View:
    """Mark a view without unblinded content, so that it is not recorded."""
    view.audited = False  # type: ignore[attr-defined]
    return view


class AuditMiddleware:
    """Records views and acts before the response leaves."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        match = _audited(request)
        if match is None or not request.user.is_authenticated:
            return response
        status = response.status_code
        entry = _entry(request, match, status)
        if request.method not in SAFE and status not in TURNED_AWAY:
            # The act is done: an error now would only make somebody do it again.
            audit.record_if_possible("admin.write" if match.namespace == "admin" else "act", **entry)
        elif status in TURNED_AWAY:
            audit.record_if_possible("view.refused", **entry)
        elif status < 300 or status == NOT_MODIFIED:
            return self._shown(request, response, entry)
        return response

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        """Refuse an act before it begins: one that cannot be recorded must not happen."""
        if request.method in SAFE or _audited(request) is None:
            return None
        try:
            audit.ensure_writable()
        except audit.AuditUnwritableError as error:
            return _unavailable(request, error)
        return None

    def _shown(self, request: HttpRequest, response: HttpResponse, entry: dict[str, Any]) -> HttpResponse:
        try:
            audit.record("view.unblinded", **entry)
        except audit.AuditUnwritableError as error:
            # Nobody may look at what nobody can trace.
            return _unavailable(request, error)
        return response


def _audited(request: HttpRequest) -> ResolverMatch | None:
    match = request.resolver_match
    if match is None or not getattr(match.func, "audited", True):
        return None
    return None if match.view_name.startswith(settings.AUDIT_EXEMPT) else match


def _entry(request: HttpRequest, match: ResolverMatch, status: int) -> dict[str, Any]:
    # Without the query string: it may hold words that were searched for.
    return {
        "actor": audit.actor_of(request.user),
        "campaign": match.kwargs.get("slug"),
        "view": match.view_name,
        "method": request.method,
        "path": request.path,
        "status": status,
        "address": address_of(request),
    }


def address_of(request: HttpRequest | None) -> str | None:
    """Client address behind the trusted proxies; None where unknown."""
    try:
        return str(get_adapter().get_client_ip(request)) if request else None
    except PermissionDenied:
        return None


def _unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    audit.logger.error("%s Refused: %s.", error, request.path)
    if "text/html" in request.headers.get("Accept", ""):
        return render(request, "unavailable.html", status=UNAVAILABLE)
    problem = {
        "type": "about:blank",
        "title": "The audit log cannot be written",
        "status": UNAVAILABLE,
        "detail": "Unblinded reads are refused until it can. Judging goes on.",
    }
    return JsonResponse(problem, status=UNAVAILABLE, content_type="application/problem+json")
