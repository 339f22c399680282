"""The audit log: views of unblinded pages, and acts of administration.

It is kept outside the database, so that whoever can change rows cannot change it too. One act is one line of JSON,
appended with a single write, so that several processes may share the file. A person is written as `user:` and the
key of the account: when an account is erased, the log needs no rewriting. It holds no content and no secrets.

`AUDIT_LOG` is the path of a file, or `-` for stderr.
"""

import gzip
import json
import logging
import os
import pwd
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import ResolverMatch

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
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or not found.st_size:
        return True
    # A full disk may have cut the last line.
    return os.pread(file, 1, found.st_size - 1) == b"\n"


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
            record_if_possible("admin.write" if match.namespace == "admin" else "act", **entry)
        # Nothing was seen, so a line that is lost does no harm to blindness.
        elif status in TURNED_AWAY:
            record_if_possible("view.refused", **entry)
        elif status < 300 or status == NOT_MODIFIED:
            return self._shown(request, response, entry)
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

    def _shown(self, request: HttpRequest, response: HttpResponse, entry: dict[str, Any]) -> HttpResponse:
        try:
            record("view.unblinded", **entry)
        except AuditUnwritableError as error:
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


BLOCK = 64 * 1024
MOST_BYTES = 32 * 1024**2
LONGEST_LINE = 64 * 1024
AuditLine = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Conditions on lines; '' takes all. `since` is included, `until` is not."""

    campaign: str = ""
    actor: str = ""
    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def fits(self, line: AuditLine) -> bool:
        kind = str(line.get("kind", ""))
        return (
            (not self.campaign or line.get("campaign") == self.campaign)
            and (not self.actor or line.get("actor") == self.actor)
            and (not self.kind or kind == self.kind or kind.startswith(f"{self.kind}."))
        )


@dataclass(frozen=True, slots=True)
class AuditLines:
    """Lines, the newest first. `reached`: how far back was looked where that is not all; None: all was."""

    lines: list[AuditLine]
    reached: datetime | None


@dataclass(slots=True)
class _Budget:
    left: int

    def take(self, number: int) -> bool:
        self.left -= number
        return self.left >= 0


def is_a_file() -> bool:
    return settings.AUDIT_LOG != STDERR and (not _current().exists() or _current().is_file())


def newest(wanted: AuditQuery, most: int) -> AuditLines:
    """At most `most` lines, newest first; lines that are no JSON are left out."""
    found: list[AuditLine] = []
    if not is_a_file():
        return AuditLines(found, None)
    # A log of years must not keep a web process busy: the page says how far back it looked.
    budget, raw = _Budget(MOST_BYTES), b""
    needle = f'"campaign": {json.dumps(wanted.campaign)}'.encode() if wanted.campaign else b""
    for raw in _back(_files(), wanted.until, budget):
        line = _read(raw, needle)
        if line is None or (wanted.until and time_of(line) >= wanted.until):
            continue
        if wanted.since and time_of(line) < wanted.since:
            return AuditLines(found, None)
        if wanted.fits(line):
            found.append(line)
            if len(found) >= most:
                break
    last = _read(raw, b"") if budget.left < 0 else None
    return AuditLines(found, time_of(last) if last else None)


def time_of(line: AuditLine) -> datetime:
    """Moment of a line; the earliest time for a line without one."""
    try:
        at = datetime.fromisoformat(str(line.get("at")))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _current() -> Path:
    return Path(settings.AUDIT_LOG)


def _files() -> list[Path]:
    """Log and its rotated files, the newest first: `audit.jsonl.1`, `audit.jsonl-20261122.gz`."""
    current = _current()
    rotated = [
        path
        for path in current.parent.glob(f"{current.name}[.-]*")
        # A link could point at any file of the server, and an auditor would read it.
        if path.is_file() and not path.is_symlink() and not path.name.endswith((".tmp", ".lock"))
    ]
    rotated.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    return [path for path in (current, *rotated) if path.is_file()]


def _read(raw: bytes, needle: bytes) -> AuditLine | None:
    # Searching the bytes first spares parsing the lines of other campaigns.
    if len(raw) > LONGEST_LINE or needle not in raw:
        return None
    try:
        line = json.loads(raw)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def _back(files: list[Path], until: datetime | None, budget: _Budget) -> Iterator[bytes]:
    for path in files:
        if path.suffix == ".gz":
            yield from _packed(path, budget)
        else:
            with path.open("rb") as file:
                yield from _plain(file, _end_before(file, until), budget)
        if budget.left < 0:
            return


def _packed(path: Path, budget: _Budget) -> Iterator[bytes]:
    """Lines of a packed file, the last first."""
    with gzip.open(path) as file:
        # A packed file can only be read whole.
        data = file.read(max(budget.left, 0) + 1)
    if budget.take(len(data)):
        yield from reversed(data.splitlines())


def _plain(file: IO[bytes], end: int, budget: _Budget) -> Iterator[bytes]:
    """Yield the lines that end before an offset, the last first."""
    rest = b""
    while end > 0:
        start = max(end - BLOCK, 0)
        if not budget.take(end - start):
            return
        file.seek(start)
        first, *whole = (file.read(end - start) + rest).split(b"\n")
        yield from (line for line in reversed(whole) if line)
        rest, end = first, start
    if rest:
        yield rest


def _end_before(file: IO[bytes], until: datetime | None) -> int:
    """Offset behind which no line is older than `until`."""
    low, high = 0, file.seek(0, os.SEEK_END)
    if until is None:
        return high
    end = high
    # Halving finds it, because lines come in order of time.
    while high - low > BLOCK:
        middle = (low + high) // 2
        file.seek(middle)
        file.readline(LONGEST_LINE)
        line = _read(file.readline(LONGEST_LINE), b"")
        if line is None or time_of(line) < until:
            low = middle
        else:
            high = middle
    # Processes write side by side, so that lines may be out of order by a moment.
    return min(high + BLOCK, end)
