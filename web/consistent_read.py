"""One state of the database for reads that need several queries."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection, transaction


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
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield alias
