"""What all tests share: the database as in production, the cast, and where the real data lie."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.core.management.commands import flush
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import DjangoDbBlocker

from evaluation.append_only import install_triggers, remove_triggers
from reports.frames import forget_sheets
from tests.speed import counted_seconds, slowness
from tests.worlds.recorded import MIGRATED

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
MEMORY = Path("/dev/shm")  # noqa: S108
MOST_SECONDS = 15.0
"""Three times what CONTRIBUTING.md allows: a processor that others use too counts more for the same work."""


def pytest_configure() -> None:
    """Serve static files without a manifest, which tests do not collect, and make SQLite's test database quickly."""
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.WHITENOISE_AUTOREFRESH = True  # each new test client would scan all collected files
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    hypothesis.settings.register_profile("busy", deadline=None)  # a busy machine makes no example wrong
    hypothesis.settings.load_profile("busy")
    settings.AUDIT_LOG = os.devnull
    # Playwright's synchronous interface runs an event loop in the test's thread.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    if "sqlite" in settings.DATABASES["default"]["ENGINE"]:
        _make_quickly(settings.DATABASES["default"]["TEST"])


def _make_quickly(test: dict[str, Any]) -> None:
    """Make tables from the models: ten seconds less for each process.

    PostgreSQL's tests run on what the migrations make, `makemigrations --check` says that this is the same, and the
    soak migrates SQLite.
    """
    test["MIGRATE"] = False
    if os.access(MEMORY, os.W_OK):
        # Still a file with a journal, so that threads meet what they meet in production; only no disk is waited for.
        test["NAME"] = str(MEMORY / f"assay-test-{os.getpid()}.sqlite3")


def pytest_unconfigure() -> None:
    """Sweep up what SQLite leaves beside a test database that was deleted while open."""
    default = settings.DATABASES["default"]
    if "sqlite" in default["ENGINE"]:
        made = Path(default["TEST"]["NAME"])  # with the worker's name behind it
        for left in made.parent.glob(f"{made.name}*"):
            left.unlink(missing_ok=True)


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let every database test reach the snapshot connection as well; begin with slow tests."""
    for item in items:
        marker = item.get_closest_marker("django_db")
        if marker and "databases" not in marker.kwargs:
            item.add_marker(
                pytest.mark.django_db(**marker.kwargs, databases=list(settings.DATABASES)), append=False
            )
        drives_browser = item.get_closest_marker("browser") is not None
        if not drives_browser and "chromium" in getattr(item, "fixturenames", ()):
            raise pytest.UsageError(f"{item.nodeid} drives a browser, so it needs the mark `browser`")
        if drives_browser:
            # Chromium shares two cores with the others. What fails once is named in the summary, as RERUN.
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that is not marked `slow` and computes for much over 5 seconds; fixtures and worlds are not counted.

    Seconds of the processor, because on a busy machine every test takes longer by the clock. A test that waits is not
    found by this: it costs `make test` little, for other tests run meanwhile.
    """
    before = counted_seconds()
    yield
    spent = counted_seconds() - before
    if any(item.get_closest_marker(name) for name in ("slow", "browser")):
        return
    if spent > MOST_SECONDS and spent > MOST_SECONDS * slowness():
        pytest.fail(f"{spent:.1f} s of the processor: make it faster, or mark it `slow`", pytrace=False)


def tables_to_empty(
    style: Any, connection: BaseDatabaseWrapper, *, reset_sequences: bool, allow_cascade: bool
) -> list[str]:
    """Return the statements that empty every table but those that migrations fill."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    emptied = [table for table in tables if table not in MIGRATED]
    return connection.ops.sql_flush(style, emptied, reset_sequences=reset_sequences, allow_cascade=allow_cascade)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Make the flush after a transactional test leave what migrations filled, and put back the triggers alone."""
    with django_db_blocker.unblock():
        _call_migrated()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flush, "sql_flush", tables_to_empty)
        patch.setattr(flush, "emit_post_migrate_signal", lambda _verbosity, _interactive, db: install_triggers(db))
        yield


def _call_migrated() -> None:
    recorder = MigrationRecorder(connection)
    recorder.ensure_schema()
    with transaction.atomic():
        for app, name in MigrationLoader(connection).graph.nodes.keys() - recorder.applied_migrations().keys():
            recorder.record_applied(app, name)


@pytest.fixture(autouse=True)
def _no_old_sheets() -> None:
    """Forget cached reports: a rolled back database reuses its keys."""
    forget_sheets()


@pytest.fixture(autouse=True)
def _events_can_be_flushed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Take the append-only triggers away before a transactional test's tables are emptied; the flush restores them."""
    transactional = "transactional_db" in request.fixturenames or "live_server" in request.fixturenames
    if transactional:
        request.getfixturevalue("transactional_db")
    yield
    if transactional:
        with transaction.atomic():
            remove_triggers()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real TREC data, which a clone of the project does not have."""
    if not SHARED.is_dir():
        pytest.skip("the real TREC data are not beside this checkout")
    return SHARED
