"""The triggers that keep the logs append-only are in the migrated database, on either engine."""

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from evaluation.append_only import TABLES, install_triggers, remove_triggers
from evaluation.models import Event

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]
SQLITE = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN {tables}"
POSTGRESQL = (
    "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
    "WHERE relname IN {tables} AND NOT tgisinternal"
)


def triggers() -> set[str]:
    query = SQLITE if connection.vendor == "sqlite" else POSTGRESQL
    with connection.cursor() as cursor:
        cursor.execute(query.format(tables=TABLES))
        return {name for (name,) in cursor.fetchall()}


def test_they_are_there_after_migrate() -> None:
    verbs = ("update", "delete", "replace") if connection.vendor == "sqlite" else ("change",)
    assert triggers() == {f"{table}_no_{verb}" for table in TABLES for verb in verbs}


def test_a_migrate_puts_them_back() -> None:
    before = triggers()
    remove_triggers()
    assert not triggers()
    call_command("migrate", verbosity=0)
    assert triggers() == before


def test_installing_twice_does_no_harm() -> None:
    before = triggers()
    install_triggers()
    assert triggers() == before


def test_replacing_a_row_is_a_change_too() -> None:
    event = Event.objects.create(kind="test")
    verb = "INSERT OR REPLACE" if connection.vendor == "sqlite" else "INSERT"
    tail = "" if connection.vendor == "sqlite" else " ON CONFLICT (id) DO UPDATE SET kind = EXCLUDED.kind"
    statement = f"{verb} INTO evaluation_event (id, kind, at, payload) VALUES (%s, 'forged', %s, '{{}}'){tail}"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, [event.pk, event.at])
    assert Event.objects.get().kind == "test"


def test_events_are_still_added() -> None:
    Event.objects.bulk_create([Event(kind="test") for _ in range(3)])
    Event.objects.create(kind="test")
    assert Event.objects.count() == 4
