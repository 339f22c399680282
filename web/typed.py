"""Typed text outlives a session that ended, a sign-in in another window, and a database that was busy.

The answer to such a form is a page with what was typed, from which the same account sends it once more by a click.
Passwords and files are never in it. Desks send JSON and have a dialog of their own.
"""

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import _unmask_cipher_token  # type: ignore[attr-defined]
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme

OUT = "You are signed out, so nothing was saved. What you typed is on this page as long as it is open."
ANEW = "You have signed in again since this page was opened, so nothing was saved. What you typed is below."
OTHER = "Another account typed this, so nothing was saved. Sign in with that account to send it."
STRANGE = "This was not sent from an open page of Assay, so nothing was saved."
BY = "typed_by"
SALT = "web.typed"
WITHHELD = re.compile(r"password|secret|token|^(api_?)?key$|^code$", re.IGNORECASE)
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
WRITERS, MOST_WRITERS, KEPT_SECONDS = "writers", 6, 15 * 86_400
STOP_ASKING = 286
"""Status at which htmx takes the answer and does not ask again by itself."""


def sends_form(request: HttpRequest) -> bool:
    return request.method == "POST" and request.content_type in FORMS and request.accepts("text/html")


def came_from(request: HttpRequest) -> str:
    # The link back comes from a header, so an address of another site must not become one.
    page = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return page if ours and request.method == "POST" else ""


def typed_page(request: HttpRequest, sentence: str, status: int, *, may_send: bool = True) -> HttpResponse:
    names = [name for name in request.POST if name not in ("csrfmiddlewaretoken", BY)]
    fields = [
        (name, value, len(value.split()) > 1 or len(value) > 60)
        for name in names
        for value in request.POST.getlist(name)
        if not WITHHELD.search(name)
    ]
    writer = _writer(request)
    context = {
        "sentence": sentence,
        "fields": fields,
        "short": [(name, value) for name, value, is_long in fields if value and not is_long],
        "all_short": not any(is_long for _, _, is_long in fields),
        "withheld": bool(request.FILES) or any(map(WITHHELD.search, names)),
        "writer": signing.dumps(writer, salt=SALT) if writer else "",
        "may_send": may_send,
        "back": came_from(request) or request.get_full_path(),
        "sign_in": resolve_url(settings.LOGIN_URL),
    }
    return render(request, "typed.html", context, status=status)


class SignInMiddleware(LoginRequiredMiddleware):
    """Send strangers to sign in, and lose neither a form nor a part of a page that asked by itself."""

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., Any], view_args: Any, view_kwargs: Any
    ) -> Any:
        if request.user.is_authenticated and sends_form(request) and BY in request.POST:
            writer = _writer(request)
            if writer and writer != request.user.pk:
                return typed_page(request, OTHER, 403)
        return super().process_view(request, view_func, view_args, view_kwargs)

    def handle_no_permission(self, request: HttpRequest, view_func: Callable[..., Any]) -> Any:
        if request.headers.get("HX-Request"):
            return _part(request, "signed out")
        if sends_form(request):
            return typed_page(request, OUT, 403)
        return super().handle_no_permission(request, view_func)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Note in the browser which account its forms are written by."""
        user, secret = getattr(request, "user", None), request.META.get("CSRF_COOKIE")
        if secret and user is not None and user.is_authenticated:
            writers = _writers(request)
            mine = [_digest(secret), user.pk]
            if mine not in writers:
                value = signing.dumps([mine, *writers][:MOST_WRITERS], salt=SALT)
                secure = settings.SESSION_COOKIE_SECURE
                response.set_cookie(_cookie(), value, KEPT_SECONDS, secure=secure, httponly=True, samesite="Lax")
        return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form whose page is of another sign-in, or of no page of ours."""
    if request.headers.get("HX-Request"):
        return _part(request, "signed in anew")
    if not sends_form(request):
        return render(request, "typed.html", {"sentence": STRANGE}, status=403)
    # Browsers name the page that a form came from, and no other site can say that it was ours.
    ours = request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"
    writer = _writer(request)
    if writer and request.user.is_authenticated and writer != request.user.pk:
        return typed_page(request, OTHER, 403)
    if not (ours or writer):
        return typed_page(request, STRANGE, 403, may_send=False)
    return typed_page(request, ANEW if request.user.is_authenticated else OUT, 403)


def _part(request: HttpRequest, state: str) -> HttpResponse:
    """Answer a part of a page that asked by itself with a line above it, and leave the part as it is."""
    here = request.headers.get("HX-Current-URL", "")
    query = urlencode({"next": here[here.find("/", 8) :] if "://" in here else "/"})
    context = {"state": state, "sign_in": f"{resolve_url(settings.LOGIN_URL)}?{query}"}
    response = render(request, "components/signed_out.html", context, status=STOP_ASKING)
    response["HX-Retarget"], response["HX-Reswap"], response["HX-Reselect"] = "#signed-out", "innerHTML", "p"
    response["HX-Push-Url"] = response["HX-Replace-Url"] = "false"
    return response


def _writer(request: HttpRequest) -> int | None:
    """Return the account whose page a form was on, where this browser knows it."""
    try:
        return int(signing.loads(request.POST.get(BY, ""), salt=SALT))
    except (signing.BadSignature, ValueError, TypeError):
        pass
    token = request.POST.get("csrfmiddlewaretoken", "")
    secret = _unmask_cipher_token(token) if re.fullmatch("[a-zA-Z0-9]{64}", token) else token
    return next((pk for digest, pk in _writers(request) if digest == _digest(secret)), None)


def _writers(request: HttpRequest) -> list[list[Any]]:
    try:
        return list(signing.loads(request.COOKIES.get(_cookie(), ""), salt=SALT))
    except (signing.BadSignature, TypeError):
        return []


def _cookie() -> str:
    return f"__Host-{WRITERS}" if settings.SESSION_COOKIE_SECURE else WRITERS


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()[:16]
