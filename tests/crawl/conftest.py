"""What the walks share."""

from collections.abc import Iterator

import pytest
from django.test import override_settings


@pytest.fixture(autouse=True)
def _sessions_in_memory() -> Iterator[None]:
    """Keep sessions out of the database: reading one for each of so many requests takes a fifth of a walk."""
    with override_settings(SESSION_ENGINE="django.contrib.sessions.backends.cache"):
        yield
