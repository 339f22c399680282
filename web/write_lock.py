"""SQLite's only write lock, for writes that are not worth a wait."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def short_wait(milliseconds: int) -> Iterator[None]:
    """Wait so long for SQLite's write lock; then a write raises `OperationalError`. PostgreSQL has no such lock."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        patience = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {milliseconds}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {patience}")
