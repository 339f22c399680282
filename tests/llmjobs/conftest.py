"""Where the LLM jobs of tests send their calls: to an endpoint of the test's own."""

from collections.abc import Callable, Iterator

import pytest

from llmjobs import client
from llmjobs.client import close_clients
from loadtest.servers.simulator import LoggedSimulator, running_simulator
from tests.llmjobs.processes import embedded, migrated, services

__all__ = ["embedded", "migrated", "services"]

PointAt = Callable[[str], None]


@pytest.fixture
def point_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[PointAt]:
    """Send calls to this address from now on."""
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)

    def point(base_url: str) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", base_url)
        monkeypatch.setenv("OPENAI_MODEL", "word-overlap-simulator")
        client._endpoint.cache_clear()

    yield point
    close_clients()
    client._endpoint.cache_clear()


@pytest.fixture
def simulator(point_at: PointAt) -> Iterator[LoggedSimulator]:
    """The simulated LLM, without faults, to which calls go."""
    with running_simulator(retry_after=0.05, hang_s=0.2) as server:
        point_at(server.base_url)
        yield server
        close_clients()


@pytest.fixture
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmjobs.client.FIRST_WAIT", 0.01)
    monkeypatch.setattr("llmjobs.client.LONGEST_WAIT", 0.05)
    monkeypatch.setattr("llmjobs.engine.send.LONGEST_PROBE_WAIT", 0.1)
