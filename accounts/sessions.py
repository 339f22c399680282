"""Age of sessions, and notes in each: when it began, when it was last used, and in which browser."""

import secrets
from collections.abc import Callable
from time import time
from typing import Any

from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

SINCE, SEEN = "signed_in_at", "seen_at"
MARK, BROWSER = "mark", "browser"
"""A drawn name of the session, by which its owner ends it, and what its browser calls itself."""
LONGEST_AGENT = 200
NOTED_EVERY = 300
"""Seconds. A session is written when it was last seen this long ago, not with every save of a desk."""

TOO_MANY = 429
A_MINUTE = 60


@receiver(user_logged_in)
def note_sign_in(request: HttpRequest, **kwargs: Any) -> None:
    """Start the session's two clocks; signing in counts as typing the password just now."""
    session = request.session
    session[SINCE] = session[SEEN] = int(time())
    _note_browser(request)
    records = session.get(AUTHENTICATION_METHODS_SESSION_KEY)
    if records:
        session[AUTHENTICATION_METHODS_SESSION_KEY] = [*records[:-1], records[-1] | {"reauthenticated": True}]


def _note_browser(request: HttpRequest) -> None:
    request.session[MARK] = secrets.token_urlsafe(12)
    request.session[BROWSER] = request.headers.get("User-Agent", "")[:LONGEST_AGENT]


class SessionAgeMiddleware:
    """End a session that is too old, and keep one that is used."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            now, session = int(time()), request.session
            # The first clock ends a session that is in use, the idle time one that is not.
            if now - session.setdefault(SINCE, now) > settings.SESSION_LONGEST:
                logout(request)
            elif now - session.get(SEEN, 0) >= NOTED_EVERY:
                session[SEEN] = now  # writing moves the end of the idle time too
                if MARK not in session:  # of a session from before there were marks
                    _note_browser(request)
        return self.get_response(request)


class RetryAfterMiddleware:
    """Say after how many seconds to try again, where there were too many attempts."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        locked = getattr(request, "retry_after", 0)
        if locked:
            response.status_code = TOO_MANY
        if response.status_code == TOO_MANY and "Retry-After" not in response:
            response["Retry-After"] = str(locked or A_MINUTE)
        return response
