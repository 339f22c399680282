"""The audit log: views of unblinded pages, and acts of administration.

It is kept outside the database, so that whoever can change rows cannot change it too. One act is one line of JSON,
appended with a single write, so that several processes may share the file. A person is written as `user:` and the
key of the account: when an account is erased, the log needs no rewriting. It holds no content and no secrets.

`AUDIT_LOG` is the path of a file, or `-` for stderr.
"""

import json
import logging
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import ResolverMatch
from django.utils.deprecation import MiddlewareMixin

try:
    pwd: ModuleType | None = import_module("pwd")
except ImportError:  # Windows has no such module
    pwd = None

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser

logger = logging.getLogger(__name__)

STDERR, STDERR_FILE = "-", 2
LONGEST = 300
APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT
OWNER_ONLY = 0o600


class AuditUnwritableError(Exception):
    """The audit log cannot be written. Unblinded pages are refused then; desks do not write to it."""


def record(kind: str, *, actor: str, **fields: str | int | None) -> None:
    """Append one line; empty fields are left out. Raises `AuditUnwritableError`."""
    entry = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "kind": kind, "actor": actor[:LONGEST]}
    rest = {name: _short(value) for name, value in fields.items() if value is not None}
    _append(json.dumps(entry | rest).encode() + b"\n")


def record_if_possible(kind: str, *, actor: str, **fields: str | int | None) -> None:
    """Append one line or log the failure, for acts that have happened already."""
    try:
        record(kind, actor=actor, **fields)
    except AuditUnwritableError as error:
        logger.error("%s Lost: %s by %s.", error, kind, actor)


def ensure_writable() -> None:
    """Raises `AuditUnwritableError`. Asked before an act that could not be undone."""
    # Opening the file for appending is the test; rights alone would say nothing of a read-only disk.
    _append(b"")


def actor_of(user: "AbstractBaseUser | AnonymousUser") -> str:
    return f"user:{user.pk}" if user.pk else "anonymous"


def system_actor() -> str:
    """Operating system account behind a command, never the name that it claims."""
    if pwd is None:
        return f"os:{os.getlogin()}"
    uid = os.getuid()
    try:
        return f"os:{pwd.getpwuid(uid).pw_name}"
    except KeyError:  # a container may run as a number without a name
        return f"os:{uid}"


def _short(value: str | int) -> str | int:
    return value[:LONGEST] if isinstance(value, str) else value


def _append(line: bytes) -> None:
    try:
        if settings.AUDIT_LOG == STDERR:
            _write(STDERR_FILE, line)
            return
        file = os.open(Path(settings.AUDIT_LOG), APPEND, OWNER_ONLY)
        try:
            _write(file, line if _ends_whole(file) else b"\n" + line)
        finally:
            os.close(file)
    except OSError as error:
        raise AuditUnwritableError(f"The audit log cannot be written: {error.strerror or error}.") from error


def _write(file: int, line: bytes) -> None:
    # One write per line, so that several processes may share the file.
    if os.write(file, line) < len(line):
        raise OSError("only a part of the line was written")


def _ends_whole(file: int) -> bool:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or not status.st_size:
        return True
    # A full disk may have cut the last line.
    os.lseek(file, -1, os.SEEK_END)  # a write goes to the end all the same
    return os.read(file, 1) == b"\n"


SAFE = ("GET", "HEAD", "OPTIONS")
NOT_MODIFIED = 304
TURNED_AWAY = (403, 404, 429)
UNAVAILABLE = 503

View = TypeVar("View", bound=Callable[..., Any])


def blind(view: View) -> View:
    """Mark a view without unblinded content, so that it is not recorded."""
    view.audited = False  # type: ignore[attr-defined]
    return view


class AuditMiddleware(MiddlewareMixin):
    """Records views and acts before the response leaves."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        match = _audited(request)
        if match is None or not request.user.is_authenticated:
            return response
        status = response.status_code
        entry = _entry(request, match, status)
        if request.method not in SAFE and status not in TURNED_AWAY:
            # The act is done: an error now would only make somebody do it again.
            record_if_possible("admin.write" if match.namespace == "admin" else "act", **entry)
        # Nothing was seen, so a line that is lost does no harm to blindness.
        elif status in TURNED_AWAY:
            record_if_possible("view.refused", **entry)
        elif status < 300 or status == NOT_MODIFIED:
            try:
                record("view.unblinded", **entry)
            except AuditUnwritableError as error:
                # Nobody may look at what nobody can trace.
                return _unavailable(request, error)
        return response

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        """Refuse an act before it begins: one that cannot be recorded must not happen."""
        if request.method in SAFE or _audited(request) is None:
            return None
        try:
            ensure_writable()
        except AuditUnwritableError as error:
            return _unavailable(request, error)
        return None


def _audited(request: HttpRequest) -> ResolverMatch | None:
    match = request.resolver_match
    if match is None or not getattr(match.func, "audited", True):
        return None
    return None if match.view_name.startswith(settings.AUDIT_EXEMPT) else match


def _entry(request: HttpRequest, match: ResolverMatch, status: int) -> dict[str, Any]:
    # Without the query string: it may hold words that were searched for.
    return {
        "actor": actor_of(request.user),
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
    logger.error("%s Refused: %s.", error, request.path)
    if "text/html" in request.headers.get("Accept", ""):
        return render(request, "unavailable.html", status=UNAVAILABLE)
    problem = {
        "type": "about:blank",
        "title": "The audit log cannot be written",
        "status": UNAVAILABLE,
        "detail": "Unblinded reads are refused until it can. Judging goes on.",
    }
    return JsonResponse(problem, status=UNAVAILABLE, content_type="application/problem+json")


END_BYTES = 4 * 1024**2
"""Part of the file that a page reads: some 19,000 lines, in 0.3 s. A log of years must keep no web process busy."""
AuditLine = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LogEnd:
    """Newest lines first. `begins`: moment before which older lines may be elsewhere; None: these are all."""

    lines: list[AuditLine]
    begins: datetime | None


def is_a_file() -> bool:
    return settings.AUDIT_LOG != STDERR and (not _current().exists() or _current().is_file())


def read_end() -> LogEnd:
    """End of the current file; older and rotated ones are for `zgrep`. Lines without a moment are left out."""
    if not is_a_file() or not _current().exists():
        return LogEnd([], _oldest([]) if _is_rotated() else None)
    with _current().open("rb") as file:
        start = max(file.seek(0, os.SEEK_END) - END_BYTES, 0)
        file.seek(start)
        if start:
            file.readline()  # the rest of a line that begins before
        lines = [line for raw in file if (line := _parsed(raw)) is not None]
    return LogEnd(lines[::-1], _oldest(lines) if start or _is_rotated() else None)


def _oldest(lines: list[AuditLine]) -> datetime:
    return min(map(time_of, lines), default=datetime.now(UTC))


def _is_rotated() -> bool:
    # logrotate appends a number or a day to the name.
    return any(_current().parent.glob(f"{_current().name}[.-]*"))


def time_of(line: AuditLine) -> datetime:
    at = datetime.fromisoformat(str(line["at"]))
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _current() -> Path:
    return Path(settings.AUDIT_LOG)


def _parsed(raw: bytes) -> AuditLine | None:
    # A full disk or a program of the host may have left anything in the file.
    try:
        line = json.loads(raw)
        time_of(line)
    except (ValueError, KeyError, TypeError):
        return None
    return line if isinstance(line, dict) else None
