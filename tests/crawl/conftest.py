"""What the walks share."""

from collections.abc import Iterator

import pytest
from django.test import override_settings

from tests.api.throttling import unlimited


@pytest.fixture(autouse=True)
def _sessions_in_memory() -> Iterator[None]:
    """Keep sessions out of the database: reading one for each of so many requests takes a fifth of a walk."""
    with override_settings(SESSION_ENGINE="django.contrib.sessions.backends.cache"):
        yield


@pytest.fixture(autouse=True)
def _unthrottled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a walk ask as fast as it goes: an answer of 429 has nothing to hear in it."""
    unlimited(monkeypatch)
