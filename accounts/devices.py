"""Browsers that an account has signed in with: a signed cookie that outlives the session.

It lets nobody in. It only gives the browser a count of wrong passwords of its own, so that an account which somebody
else keeps locked by guessing stays open to its owner.
"""

import secrets
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from accounts.models import User

SALT = "accounts.device"
KEPT_SECONDS = 180 * 86_400
NAME = "known-browser"


def device_of(request: HttpRequest, user: User) -> str:
    """Name of a browser that this account has signed in with; '' for any other."""
    try:
        pk, epoch, drawn = signing.loads(request.COOKIES.get(_cookie(), ""), salt=SALT, max_age=KEPT_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    # A raised epoch ends the cookies of all browsers too.
    return f"device:{drawn}" if (pk, epoch) == (user.pk, user.session_epoch) else ""


@receiver(user_logged_in)
def _note(user: User, request: HttpRequest, **_rest: Any) -> None:
    request.known_user = user  # type: ignore[attr-defined]


class KnownBrowserMiddleware:
    """Give a browser its cookie when somebody signs in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        user = getattr(request, "known_user", None)
        if user is not None and not device_of(request, user):
            value = signing.dumps((user.pk, user.session_epoch, secrets.token_urlsafe(16)), salt=SALT)
            secure = settings.SESSION_COOKIE_SECURE
            response.set_cookie(_cookie(), value, KEPT_SECONDS, secure=secure, httponly=True, samesite="Lax")
        return response


def _cookie() -> str:
    return f"__Host-{NAME}" if settings.SESSION_COOKIE_SECURE else NAME
