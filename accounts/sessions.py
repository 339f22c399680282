"""How long a session lasts: so long without a request, and so long after the sign-in."""

from collections.abc import Callable
from time import time
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

SINCE, SEEN = "signed_in_at", "seen_at"
NOTED_EVERY = 300
"""Seconds. A session is written when it was last seen this long ago, not with every save of a desk."""

TOO_MANY = 429
A_MINUTE = 60


@receiver(user_logged_in)
def note_sign_in(request: HttpRequest, **kwargs: Any) -> None:
    """Begin a session's two clocks."""
    request.session[SINCE] = request.session[SEEN] = int(time())


class SessionAgeMiddleware:
    """End a session that is too old, and keep one that is used."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            now, session = int(time()), request.session
            if now - session.setdefault(SINCE, now) > settings.SESSION_LONGEST:
                logout(request)
            elif now - session.get(SEEN, 0) >= NOTED_EVERY:
                session[SEEN] = now  # writing moves the end of the idle time too
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
