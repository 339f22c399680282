"""One state of the database for reads that need several queries."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import connection, transaction

ONE_STATE = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"


@contextmanager
def consistent_read() -> Iterator[str]:
    """Yield the alias to read `using`; everything read inside the block comes from one snapshot.

    PostgreSQL: REPEATABLE READ READ ONLY. SQLite: a second connection whose transactions are deferred, so that
    reading never takes the write lock. Inside a transaction that is already open, that transaction is the state.
    """
    if connection.in_atomic_block:
        yield "default"
        return
    alias = "snapshot" if "snapshot" in settings.DATABASES else "default"
    with transaction.atomic(using=alias):
        if alias == "default":
            with connection.cursor() as cursor:
                cursor.execute(ONE_STATE)
        yield alias


@contextmanager
def read_only() -> Iterator[None]:
    """Let code that names no alias read one state of the database, keep nobody from writing, and write nothing.

    Inside a transaction that is already open, that transaction is the state.
    """
    if connection.in_atomic_block:
        yield
        return
    connection.ensure_connection()
    if connection.vendor != "sqlite":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(ONE_STATE)
            yield
        return
    # A transaction of the default connection begins IMMEDIATE, which takes the only write lock.
    database: Any = connection
    mode, database.transaction_mode = database.transaction_mode, "DEFERRED"
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA query_only = ON")
        with transaction.atomic():
            yield
    finally:
        database.transaction_mode = mode
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA query_only = OFF")
