"""Database triggers that make the event log append-only, for every program that reaches the database.

They are put in place again after each migrate: SQLite drops a table's triggers when a migration rebuilds it.
"""

from typing import Any

from django.db import connections

TABLE = "evaluation_event"
REASON = "events are append-only"

SQLITE_INSTALL = [
    f"CREATE TRIGGER IF NOT EXISTS {TABLE}_no_{verb.lower()} BEFORE {verb} ON {TABLE} "
    f"BEGIN SELECT RAISE(ABORT, '{REASON}'); END"
    for verb in ("UPDATE", "DELETE")
] + [
    # INSERT OR REPLACE deletes the old row without firing its DELETE trigger.
    f"CREATE TRIGGER IF NOT EXISTS {TABLE}_no_replace BEFORE INSERT ON {TABLE} "  # noqa: S608
    f"WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id) "
    f"BEGIN SELECT RAISE(ABORT, '{REASON}'); END"
]
POSTGRESQL_INSTALL = [
    f"CREATE OR REPLACE FUNCTION {TABLE}_refuse() RETURNS trigger LANGUAGE plpgsql "
    f"AS $$ BEGIN RAISE EXCEPTION '{REASON}'; END $$",
    f"CREATE OR REPLACE TRIGGER {TABLE}_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {TABLE} "
    f"FOR EACH STATEMENT EXECUTE FUNCTION {TABLE}_refuse()",
]
SQLITE_REMOVE = [f"DROP TRIGGER IF EXISTS {TABLE}_no_{verb}" for verb in ("update", "delete", "replace")]
POSTGRESQL_REMOVE = [f"DROP TRIGGER IF EXISTS {TABLE}_no_change ON {TABLE}"]


def install_triggers(using: str = "default", **_signal: Any) -> None:
    """Create the triggers where they are missing; harmless when they are there or the table is not yet."""
    connection = connections[using]
    if TABLE in connection.introspection.table_names():
        _run(using, SQLITE_INSTALL if connection.vendor == "sqlite" else POSTGRESQL_INSTALL)


def remove_triggers(using: str = "default") -> None:
    """Drop the triggers: only for a test's teardown, which has to empty the tables."""
    _run(using, SQLITE_REMOVE if connections[using].vendor == "sqlite" else POSTGRESQL_REMOVE)


def _run(using: str, statements: list[str]) -> None:
    with connections[using].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
