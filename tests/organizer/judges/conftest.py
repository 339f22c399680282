"""Endpoints of LLM_ENDPOINTS for the pages of judges: the simulated LLM, and a server that answers as a test wants."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from llmjobs import client
from llmjobs.client import close_clients
from loadtest.servers.simulator import LoggedSimulator, running_simulator
from tests.worlds.campaign import World
from tests.worlds.llm import in_thread
from web.outbound import ListedEndpoint

JUDGES = "/campaigns/river/judges/"
NEW = f"{JUDGES}connections/new/"
KEY = "sk-canary-0123456789abcdef"
KEY_NAME = "LLM_KEY_LAB"

List = Callable[..., None]


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(KEY_NAME, KEY)
    client._endpoint.cache_clear()
    yield
    close_clients()
    client._endpoint.cache_clear()


@pytest.fixture
def list_endpoints(settings: Settings) -> List:
    def listed(*, key: str = KEY_NAME, **addresses: str) -> None:
        settings.LLM_ENDPOINTS = tuple(
            ListedEndpoint(name, address.rstrip("/"), key) for name, address in addresses.items()
        )
        client._endpoint.cache_clear()

    return listed


@pytest.fixture
def lab(list_endpoints: List) -> Iterator[LoggedSimulator]:
    """The simulated LLM as the listed endpoint `lab`, with a key."""
    with running_simulator(retry_after=0.05, hang_s=2) as simulator:
        list_endpoints(lab=simulator.base_url)
        yield simulator
        close_clients()


@pytest.fixture
def olga(world: World) -> Client:
    return world.client("olga")


class Answering(ThreadingHTTPServer):
    """An endpoint with one answer to all, which notes the headers of what it was asked."""

    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _AnsweringHandler)
        self.status, self.body, self.location = 200, "", ""
        self.heard: list[str] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def reply(self, text: str, finish_reason: str = "stop") -> None:
        choice = {"message": {"content": text}, "finish_reason": finish_reason}
        usage = {"prompt_tokens": 200, "completion_tokens": 10}
        self.body = json.dumps({"model": "m", "choices": [choice], "usage": usage})


class _AnsweringHandler(BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        self._answer(404, "{}")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append(str(self.headers))
        self._answer(self.server.status, self.server.body)

    def _answer(self, status: int, body: str) -> None:
        self.send_response(status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal quiet."""


@pytest.fixture
def answering() -> Iterator[Answering]:
    server = Answering()
    with in_thread(lambda: server.serve_forever(poll_interval=0.02)):
        try:
            yield server
        finally:
            close_clients()
            server.shutdown()
    server.server_close()


def fields(endpoint: str = "lab", **values: str) -> dict[str, str]:
    given = {"endpoint": endpoint, "model": "word-overlap-simulator", "name": "large-model"}
    return given | {"prompt_price": "2.50", "completion_price": "10", "currency": "USD"} | values


def page(browser: Client, address: str, status: int = 200) -> str:
    response = browser.get(address)
    assert response.status_code == status
    return response.content.decode()


def tried(browser: Client, **values: str) -> str:
    """Test what the form holds, and return the page."""
    response = browser.post(NEW, fields(**values) | {"test": "1"})
    assert response.status_code == 200, response.content.decode()
    return response.content.decode()
