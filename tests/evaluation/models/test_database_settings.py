"""How the database is opened: measured choices that a later change must not undo unseen."""

from typing import Any, cast

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from evaluation.models import Campaign
from web.consistent_read import consistent_read

pytestmark = pytest.mark.postgresql

on_sqlite = pytest.mark.skipif("sqlite" not in settings.DATABASES["default"]["ENGINE"], reason="about SQLite")
on_postgresql = pytest.mark.skipif("sqlite" in settings.DATABASES["default"]["ENGINE"], reason="about PostgreSQL")


def pragma(alias: str, name: str) -> object:
    with connections[alias].cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return cursor.fetchone()[0]


def opening(alias: str) -> str:
    with CaptureQueriesContext(connections[alias]) as queries, transaction.atomic(using=alias):
        Campaign.objects.using(alias).exists()
    return str(queries[0]["sql"])


def test_a_request_is_no_transaction() -> None:
    assert not any(database["ATOMIC_REQUESTS"] for database in settings.DATABASES.values())


@on_sqlite
@pytest.mark.django_db
def test_the_journal_is_written_ahead() -> None:
    assert pragma("default", "journal_mode") == "wal"


@on_sqlite
@pytest.mark.django_db
def test_a_commit_is_on_the_disk() -> None:
    assert pragma("default", "synchronous") == 2


@on_sqlite
@pytest.mark.django_db
def test_foreign_keys_hold() -> None:
    assert pragma("default", "foreign_keys") == 1


@on_sqlite
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_a_transaction_takes_the_write_lock_at_once() -> None:
    assert opening("default") == "BEGIN IMMEDIATE"


@on_sqlite
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_a_snapshot_takes_no_lock() -> None:
    with consistent_read() as alias:
        assert alias == "snapshot"
    assert opening("snapshot") == "BEGIN DEFERRED"


@pytest.mark.django_db
def test_inside_a_transaction_that_transaction_is_the_state() -> None:
    with transaction.atomic(), consistent_read() as alias:
        assert alias == "default"


@on_postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_a_snapshot_only_reads() -> None:
    with consistent_read() as alias, connections[alias].cursor() as cursor:
        cursor.execute("SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')")
        assert cursor.fetchone() == ("repeatable read", "on")
    assert not connection.in_atomic_block


@on_postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_a_server_that_was_restarted_costs_no_error() -> None:
    """What lay in the pool meanwhile is dead, and nobody is given it."""
    connection.close()
    cast(Any, connection).close_pool()  # other tests' threads may not have given theirs back
    connection.ensure_connection()
    params = connection.get_connection_params()
    connection.close()
    with psycopg.connect(**params) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert not Campaign.objects.exists()
