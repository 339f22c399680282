"""The audit log: views of unblinded pages, and acts of administration.

It is kept outside the database, so that whoever can change rows cannot change it too. One act is one line of JSON,
appended with a single write, so that several processes may share the file. A person is written as `user:` and the
key of the account: when an account is erased, the log needs no rewriting. It holds no content and no secrets.

`AUDIT_LOG` is the path of a file, or `-` for stderr.
"""

import json
import logging
import os
import pwd
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

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
