"""Browsers in which an account is signed in: listed for its owner, and signed out one by one or all at once.

They are read from the sessions themselves. A session is known by a drawn mark in its data, so that no key of a session
is shown or stored a second time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils.crypto import constant_time_compare
from django.utils.timezone import now

from accounts.models import User
from accounts.sessions import BROWSER, MARK, SEEN, SINCE

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
    """One session of an account."""

    mark: str
    program: str
    system: str
    signed_in_at: datetime | None
    seen_at: datetime | None
    is_here: bool


def browsers_of(user: User, here: str) -> list[Browser]:
    """Open sessions of an account, the last used first. `here`: mark of the asking session."""
    found = [_browser(data, here) for _, data in _sessions_of(user)]
    return sorted(found, key=lambda one: one.seen_at or datetime.min.replace(tzinfo=UTC), reverse=True)


def sign_out(user: User, mark: str) -> bool:
    """End a session; return whether it existed."""
    ended = [row.delete() for row, data in _sessions_of(user) if mark and data.get(MARK) == mark]
    return bool(ended)


def _sessions_of(user: User) -> Iterator[tuple[Session, dict[str, Any]]]:
    """Rows of the session table with their data."""
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
