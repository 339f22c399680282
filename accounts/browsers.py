"""Browsers in which an account is signed in: listed for its owner, and signed out one by one or all at once.

They are read from the sessions themselves. A session is known by a drawn mark in its data, so that no key of a session
is shown or stored a second time.
"""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from time import time
from typing import Any

from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.models import Session
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.utils.deprecation import MiddlewareMixin
from django.utils.timezone import now

from accounts.models import User

SINCE, SEEN = "signed_in_at", "seen_at"
MARK, BROWSER = "mark", "browser"
"""A drawn name of the session, by which its owner ends it, and what its browser calls itself."""
LONGEST_AGENT = 200
NOTED_EVERY = 300
"""Seconds. A session is written when it was last seen this long ago, not with every save of a desk."""

TOO_MANY = 429
A_MINUTE = 60


@receiver(user_logged_in)
def note_sign_in(user: User, request: HttpRequest, **_rest: Any) -> None:
    """Start the session's two clocks; signing in counts as typing the password just now."""
    # The answer gives this browser its cookie, once there is an answer.
    request.known_user = user  # type: ignore[attr-defined]
    session = request.session
    session[SINCE] = session[SEEN] = int(time())
    session[MARK] = secrets.token_urlsafe(12)
    session[BROWSER] = request.headers.get("User-Agent", "")[:LONGEST_AGENT]
    records = session.get(AUTHENTICATION_METHODS_SESSION_KEY)
    if records:
        session[AUTHENTICATION_METHODS_SESSION_KEY] = [*records[:-1], records[-1] | {"reauthenticated": True}]


class SessionAgeMiddleware(MiddlewareMixin):
    """End a session that is too old, and keep one that is used."""

    def process_request(self, request: HttpRequest) -> None:
        if request.user.is_authenticated:
            now, session = int(time()), request.session
            # The first clock ends a session that is in use, the idle time one that is not.
            if now - session.setdefault(SINCE, now) > settings.SESSION_LONGEST:
                logout(request)
            elif now - session.get(SEEN, 0) >= NOTED_EVERY:
                session[SEEN] = now  # writing moves the end of the idle time too


class RetryAfterMiddleware(MiddlewareMixin):
    """Say after how many seconds to try again, where there were too many attempts."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        locked = getattr(request, "retry_after", 0)
        if locked:
            response.status_code = TOO_MANY
        if response.status_code == TOO_MANY and "Retry-After" not in response:
            response["Retry-After"] = str(locked or A_MINUTE)
        return response


# The first that fits counts: Edge and Opera name Chrome too, Chrome names Safari.
PROGRAMS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


@dataclass(frozen=True, slots=True)
class Browser:
    mark: str
    program: str
    system: str
    signed_in_at: datetime | None
    seen_at: datetime | None
    is_here: bool


def browsers_of(user: User, here: str) -> list[Browser]:
    """Open sessions of an account, the last used first. `here`: mark of the asking session."""
    browsers = [_browser(data, here) for _, data in _sessions_of(user)]
    return sorted(browsers, key=lambda browser: browser.seen_at or datetime.min.replace(tzinfo=UTC), reverse=True)


def sign_out(user: User, mark: str) -> bool:
    ended = [row.delete() for row, data in _sessions_of(user) if mark and data.get(MARK) == mark]
    return bool(ended)


def _sessions_of(user: User) -> Iterator[tuple[Session, dict[str, Any]]]:
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    # A row does not name its account, so every open one is read.
    for row in Session.objects.filter(expire_date__gt=now()).iterator():
        data = store.decode(row.session_data)
        if data.get(SESSION_KEY) != str(user.pk):
            continue
        # Sessions from before a new password or a raised epoch open nothing any more.
        if constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
            yield row, data


def _browser(data: dict[str, Any], here: str) -> Browser:
    mark, agent = data.get(MARK, ""), data.get(BROWSER, "")
    return Browser(
        mark=mark,
        program=_first(PROGRAMS, agent),
        system=_first(SYSTEMS, agent),
        signed_in_at=_moment(data.get(SINCE)),
        seen_at=_moment(data.get(SEEN)),
        is_here=bool(mark) and mark == here,
    )


def _first(names: dict[str, str], agent: str) -> str:
    return next((shown for name, shown in names.items() if re.search(rf"\b{name}\b", agent)), "")


def _moment(seconds: int | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


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


class KnownBrowserMiddleware(MiddlewareMixin):
    """Give a browser its cookie when somebody signs in."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        user = getattr(request, "known_user", None)
        if user is not None and not device_of(request, user):
            value = signing.dumps((user.pk, user.session_epoch, secrets.token_urlsafe(16)), salt=SALT)
            secure = settings.SESSION_COOKIE_SECURE
            response.set_cookie(_cookie(), value, KEPT_SECONDS, secure=secure, httponly=True, samesite="Lax")
        return response


def _cookie() -> str:
    return f"__Host-{NAME}" if settings.SESSION_COOKIE_SECURE else NAME
