"""Reading the audit log back, the newest first: the file that is written to, and those it was rotated to.

A log may have gigabytes. Lines are searched from the end, by halving where a date is given, and at most
`MOST_BYTES` are read: `AuditLines.reached` is the moment where the reading ended.
"""

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from django.conf import settings

from web.audit import STDERR

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
        """All conditions but those on the time."""
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
        one
        for one in current.parent.glob(f"{current.name}[.-]*")
        if one.is_file() and not one.is_symlink() and not one.name.endswith((".tmp", ".lock"))
    ]
    rotated.sort(key=lambda one: one.stat().st_mtime, reverse=True)
    return [one for one in (current, *rotated) if one.is_file()]


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
