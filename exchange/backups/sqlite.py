"""SQLite: a copy through its own online backup, which is one state however many people write meanwhile."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection

from evaluation.errors import Refused
from exchange.backups import ended
from exchange.backups.archive import compress, decompress


def server() -> str:
    return sqlite3.sqlite_version


def take(data: Path) -> tuple[dict[str, int], list[str]]:
    """Copy the database into a file; return its rows by table and its migrations."""
    copy = data.with_name("copy.sqlite3")
    with closing(sqlite3.connect(copy)) as target:
        _own().backup(target)  # in one step: in pieces it would begin again whenever somebody writes
        target.execute("PRAGMA journal_mode=DELETE")  # one file, whole in itself
        for table in ended.LEFT_OUT:
            target.execute(f"DELETE FROM {table}")  # noqa: S608  # constants
        target.commit()
        target.execute("VACUUM")  # deleted rows stay readable in the pages that they left
        _check(target)
        found = _rows(target), _migrations(target)
    compress(copy, data)
    copy.unlink()
    return found


def inspect(data: Path) -> dict[str, int]:
    copy = _unfolded(data)
    with closing(sqlite3.connect(copy)) as found:
        _check(found)
        return _rows(found)


def put_back(data: Path) -> None:
    """Restore in one transaction, which other processes see at once or not at all."""
    copy = _unfolded(data)
    with closing(sqlite3.connect(copy)) as source:
        for table, column, statement in ended.STATEMENTS:  # a dump of an older version may lack some
            if column in {name for _, name, *_ in source.execute(f"PRAGMA table_info({table})")}:
                source.execute(statement)
        source.commit()
        source.backup(_own())
    connection.close()


def _own() -> sqlite3.Connection:
    connection.ensure_connection()
    raw: Any = connection.connection
    found: sqlite3.Connection = raw
    return found


def _unfolded(data: Path) -> Path:
    copy = data.with_name("copy.sqlite3")
    if not copy.exists():
        decompress(data, copy)
    return copy


def _check(found: sqlite3.Connection) -> None:
    report = found.execute("PRAGMA integrity_check(3)").fetchall()
    if report != [("ok",)]:
        raise Refused("damaged", f"SQLite finds the database damaged: {report[0][0]}")


def _rows(found: sqlite3.Connection) -> dict[str, int]:
    listed = found.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    names = sorted(name for (name,) in listed)
    return {name: found.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}  # noqa: S608


def _migrations(found: sqlite3.Connection) -> list[str]:
    return [f"{app}.{name}" for app, name in found.execute("SELECT app, name FROM django_migrations ORDER BY id")]
