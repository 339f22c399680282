"""What all tests share: the database as in production, the cast, and where the real data lie."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from evaluation.triggers import remove_triggers
from reports.frames import forget_sheets

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_configure() -> None:
    """Serve static files without a manifest: tests do not collect them."""
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Playwright's synchronous interface runs an event loop in the test's thread.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"


def pytest_unconfigure() -> None:
    """Sweep up what SQLite leaves beside a test database that was deleted while open."""
    for left in settings.VAR_DIR.glob(f"test-{os.getpid()}.sqlite3*"):
        left.unlink(missing_ok=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let every database test reach the snapshot connection as well."""
    for item in items:
        marker = item.get_closest_marker("django_db")
        if marker and "databases" not in marker.kwargs:
            item.add_marker(
                pytest.mark.django_db(**marker.kwargs, databases=list(settings.DATABASES)), append=False
            )


@pytest.fixture(autouse=True)
def _no_old_sheets() -> None:
    """Forget cached reports: a rolled back database reuses its keys."""
    forget_sheets()


@pytest.fixture(autouse=True)
def _events_can_be_flushed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Take the append-only triggers away before a transactional test's tables are emptied; migrate restores them."""
    transactional = "transactional_db" in request.fixturenames or "live_server" in request.fixturenames
    if transactional:
        request.getfixturevalue("transactional_db")
    yield
    if transactional:
        remove_triggers()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real TREC data, which a clone of the project does not have."""
    if not SHARED.is_dir():
        pytest.skip("the real TREC data are not beside this checkout")
    return SHARED
