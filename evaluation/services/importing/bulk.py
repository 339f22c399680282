"""Writing the largest tables: rows without a model object for each, five times as fast as `bulk_create`."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.db import connection, models

ARRAY_ROWS = 20_000


def upsert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Iterator[tuple[Any, ...]],
    *,
    unique: Sequence[str],
    update: Sequence[str],
) -> None:
    """Insert rows of column values, and where `unique` is there already update the columns named in `update`.

    Nothing is converted on the way: values are what the database stores. PostgreSQL takes the rows as one array a
    column, because there a statement per row costs most of the time.
    """
    changes = ", ".join(f"{name} = excluded.{name}" for name in update)
    values = _arrays(model, columns) if connection.vendor == "postgresql" else _placeholders(columns)
    statement = f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) {values}"
    statement += f" ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {changes}"
    with connection.cursor() as cursor:
        while batch := list(islice(rows, ARRAY_ROWS)):
            if connection.vendor == "postgresql":
                cursor.execute(statement, [list(column) for column in zip(*batch, strict=True)])
            else:
                cursor.executemany(statement, batch)


def _arrays(model: type[models.Model], columns: Sequence[str]) -> str:
    """SELECT the rows from arrays, one parameter a column."""
    types = {field.column: field.db_type(connection) for field in model._meta.concrete_fields}
    return f"SELECT * FROM unnest({', '.join(f'%s::{types[name]}[]' for name in columns)})"  # noqa: S608 (names of ours)


def _placeholders(columns: Sequence[str]) -> str:
    return f"VALUES ({', '.join('%s' for _ in columns)})"
