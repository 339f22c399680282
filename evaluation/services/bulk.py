"""Writing the largest tables without a model object for each row: three times as fast as `bulk_create`."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models


def upsert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Iterable[tuple[Any, ...]],
    *,
    unique: Sequence[str],
    update: Sequence[str],
) -> None:
    """Insert rows of column values; where `unique` is there already, update the columns named in `update`.

    Nothing is converted on the way and no default filled in: values are what the database stores. To be called
    inside a transaction.
    """
    table, names = model._meta.db_table, ", ".join(columns)
    conflict = _conflict(unique, update)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            values = ", ".join("%s" for _ in columns)
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({values}) {conflict}", list(rows))  # noqa: S608
            return
        # COPY has no ON CONFLICT, and a statement per row costs more than all the rest.
        cursor.execute(f"CREATE TEMPORARY TABLE incoming AS SELECT {names} FROM {table} WITH NO DATA")  # noqa: S608
        with cursor.copy(f"COPY incoming ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM incoming {conflict}")  # noqa: S608
        cursor.execute("DROP TABLE incoming")


def upsert_some(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    *,
    unique: Sequence[str],
    update: Sequence[str],
) -> None:
    """The same for some hundreds of rows: on PostgreSQL one statement with an array for each column."""
    if connection.vendor == "sqlite":
        upsert(model, columns, rows, unique=unique, update=update)
        return
    if rows:
        fields = {field.column: field for field in model._meta.concrete_fields}
        arrays = ", ".join(f"%s::{fields[name].rel_db_type(connection)}[]" for name in columns)
        names = ", ".join(columns)
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {model._meta.db_table} ({names}) SELECT * FROM unnest({arrays}) "  # noqa: S608
                f"{_conflict(unique, update)}",
                [list(values) for values in zip(*rows, strict=True)],
            )


def _conflict(unique: Sequence[str], update: Sequence[str]) -> str:
    changes = ", ".join(f"{name} = excluded.{name}" for name in update)
    return f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET {changes}"
