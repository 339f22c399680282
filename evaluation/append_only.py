"""Database triggers that make logs and snapshots append-only, for every program that reaches the database.

They are put in place again after each migrate: SQLite drops a table's triggers when a migration rebuilds it.
"""

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections

# All but the first are tables of rooms above, which this room knows by name only.
TABLES = (
    "evaluation_event",
    "assessor_operation",
    "reports_adjudication",
    "exchange_snapshot",
    "exchange_snapshotpart",
)
REASON = "{table} is append-only"

SQLITE_INSTALL = [
    f"CREATE TRIGGER IF NOT EXISTS {{table}}_no_{verb.lower()} BEFORE {verb} ON {{table}} "
    f"BEGIN SELECT RAISE(ABORT, '{REASON}'); END"
    for verb in ("UPDATE", "DELETE")
] + [
    # INSERT OR REPLACE deletes the old row without firing its DELETE trigger.
    "CREATE TRIGGER IF NOT EXISTS {table}_no_replace BEFORE INSERT ON {table} "  # noqa: S608
    "WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id) "
    f"BEGIN SELECT RAISE(ABORT, '{REASON}'); END"
]
POSTGRESQL_INSTALL = [
    "CREATE OR REPLACE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql "
    f"AS $$ BEGIN RAISE EXCEPTION '{REASON}'; END $$",
    "CREATE OR REPLACE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
    "FOR EACH STATEMENT EXECUTE FUNCTION {table}_refuse()",
]
SQLITE_REMOVE = [f"DROP TRIGGER IF EXISTS {{table}}_no_{verb}" for verb in ("update", "delete", "replace")]
POSTGRESQL_REMOVE = ["DROP TRIGGER IF EXISTS {table}_no_change ON {table}"]


def install_triggers(using: str = DEFAULT_DB_ALIAS, **_signal: Any) -> None:
    """Create the triggers where they are missing; harmless when they are there or the tables are not yet."""
    # A migrate of one app, or up to one migration, ends before all the tables are there.
    there = set(connections[using].introspection.table_names())
    install = SQLITE_INSTALL if connections[using].vendor == "sqlite" else POSTGRESQL_INSTALL
    _run(using, install, [table for table in TABLES if table in there])


def remove_triggers() -> None:
    """Drop the triggers: only for a test's teardown, which has to empty the tables."""
    _run(DEFAULT_DB_ALIAS, SQLITE_REMOVE if connection.vendor == "sqlite" else POSTGRESQL_REMOVE, TABLES)


def missing_triggers() -> list[str]:
    """Return the triggers that should be in the database and are not, by name; a table to come needs none yet."""
    tables = set(connection.introspection.table_names())
    if connection.vendor == "sqlite":
        verbs: Sequence[str] = ("update", "delete", "replace")
        listed = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    else:
        verbs = ("change",)
        # A trigger that was switched off on PostgreSQL is still listed, so being there is not enough.
        listed = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'"
    with connection.cursor() as cursor:
        cursor.execute(listed)
        there = {name for (name,) in cursor.fetchall()}
    names = [f"{table}_no_{verb}" for table in TABLES if table in tables for verb in verbs]
    return [name for name in names if name not in there]


def _run(using: str, statements: Sequence[str], tables: Sequence[str]) -> None:
    with connections[using].cursor() as cursor:
        for table in tables:
            for statement in statements:
                cursor.execute(statement.format(table=table))
