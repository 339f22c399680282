"""Numbers for new rows, so that rows can name each other before any of them is written; and writing them fast."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

from exchange.snapshots.tables import Field, Model

SQLITE_LAST = """
    SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = %s), 0), coalesce(max({key}), 0)) FROM {table}
"""
POSTGRESQL_NEXT = "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)"
INSERT = "INSERT INTO {table} ({columns}) VALUES ({places})"
UNLESS_THERE = " ON CONFLICT DO NOTHING"


def reserve(model: Model, count: int) -> list[int]:
    """Reserve ascending keys, inside a transaction."""
    # On SQLite the transaction holds the only write lock, so no other process takes the same numbers.
    meta = model._meta
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            table, key = (connection.ops.quote_name(one) for one in (meta.db_table, str(meta.pk.column)))
            cursor.execute(SQLITE_LAST.format(table=table, key=key), [meta.db_table])
            last = cursor.fetchone()[0]
            return list(range(last + 1, last + 1 + count))
        cursor.execute(POSTGRESQL_NEXT, [meta.db_table, meta.pk.column, count])
        return sorted(key for (key,) in cursor.fetchall())


def insert(
    model: Model, fields: Sequence[Field], rows: Iterable[Sequence[Any]], *, unless_there: bool = False
) -> None:
    # Plain SQL: the ORM would fill in defaults and the time of now in place of the file's values.
    quoted = connection.ops.quote_name
    statement = INSERT.format(
        table=quoted(model._meta.db_table),
        columns=", ".join(quoted(str(one.column)) for one in fields),
        places=", ".join(["%s"] * len(fields)),
    )
    prepared = [
        [one.get_db_prep_save(value, connection) for one, value in zip(fields, row, strict=True)] for row in rows
    ]
    if prepared:
        with connection.cursor() as cursor:
            cursor.executemany(statement + (UNLESS_THERE if unless_there else ""), prepared)
