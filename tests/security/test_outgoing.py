"""Calls go only to hosts that an administrator allowed, whatever a judge's address looks like or a name stands for."""

import socket
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from pydantic import SecretStr
from pytest_django.fixtures import Settings

from evaluation.errors import Refused
from evaluation.judges import add_judge
from evaluation.models import Judge
from evaluation.terms import JudgeKind
from llmjobs import client
from llmjobs.client import CallRefusal, ChatRequest, Completion, Endpoint, close_clients, endpoint_at, send
from web.outbound import address_problem, resolved_problem

KEY = "sk-canary-0123456789"
REQUEST = ChatRequest("m", (("user", "Hello"),))
COMPLETION = b'{"choices": [{"message": {"content": "hello"}}]}'


class Listening(HTTPServer):
    """A server inside the network that nobody should reach: it keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[str] = []
        self.redirects_to = ""


class _Handler(BaseHTTPRequestHandler):
    server: Listening

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(str(self.headers))
        self.send_response(307 if self.server.redirects_to else 200)
        if self.server.redirects_to:
            self.send_header("Location", self.server.redirects_to)
        self.send_header("Content-Length", str(len(COMPLETION)))
        self.end_headers()
        self.wfile.write(COMPLETION)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def listening() -> Iterator[Listening]:
    with Listening() as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        close_clients()
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[None]:
    settings.SIMULATOR_PORT = 8001
    monkeypatch.setenv("OPENAI_BASE_URL", "http://llm.lab:9000/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    client._endpoint.cache_clear()
    yield
    client._endpoint.cache_clear()


def test_without_a_list_only_the_known_hosts_are_allowed() -> None:
    allowed = ["https://api.openai.com/v1", "http://127.0.0.1:8001/v1", "http://LLM.lab:9000/other"]
    assert [address_problem(url) for url in allowed] == ["", "", ""]


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://[::ffff:169.254.169.254]/",
        "http://2852039166/",
        "http://0xA9.0xFE.0xA9.0xFE/",
        "http://0251.0376.0251.0376/",
        "http://127.0.0.1:5432/",
        "http://127.1:8001/v1",
        "http://2130706433:8001/v1",
        "http://[::1]:8001/v1",
        "http://0.0.0.0:8001/",
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com",
    ],
)
def test_another_host_is_not_allowed(url: str) -> None:
    assert "is not allowed" in address_problem(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com@evil.example/v1",
        "https://user:word@api.openai.com/v1",
        "https://api.openai.com\\@evil.example/v1",
        "https://api.openai.com%2f@evil.example/",
        "https://api.openai.com\t.evil.example/",
        "https://api.openai.com/v1?key=canary",
        "https://api.openai.com/v1#x",
        "https://аpi.openai.com/v1",  # noqa: RUF001
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "javascript:alert(1)",
        "http://",
        "http://[::1",
        "http://host:99999/",
    ],
)
def test_an_address_with_a_trick_is_none(url: str) -> None:
    assert address_problem(url).startswith("base URL: http:// or https://")


def test_an_administrator_allows_a_host_or_one_port_of_it(settings: Settings) -> None:
    settings.LLM_ALLOWED_HOSTS = ["ollama:11434", "llm.example.org", "[fd00::7]:8000"]
    allowed = ["http://ollama:11434/v1", "https://LLM.example.org./v1", "http://[FD00:0::7]:8000/v1"]
    assert [address_problem(url) for url in allowed] == ["", "", ""]
    for url in ("http://ollama/v1", "http://ollama:22/", "https://llm.example.org:22/"):
        assert "is not allowed" in address_problem(url)


@pytest.mark.parametrize(
    ("host", "resolved", "refused"),
    [
        ("llm.example.org", "169.254.169.254", True),
        ("llm.example.org", "fe80::1%eth0", True),
        ("llm.example.org", "::ffff:169.254.169.254", True),
        ("llm.example.org", "127.0.0.1", True),
        ("llm.example.org", "::1", True),
        ("llm.example.org", "0.0.0.0", True),  # noqa: S104
        ("llm.example.org", "64:ff9b::a9fe:a9fe", True),
        ("llm.example.org", "64:ff9b::7f00:1", True),
        ("llm.example.org", "64:ff9b:1::a9fe:a9fe", True),
        ("llm.example.org", "::a9fe:a9fe", True),
        ("llm.example.org", "2002:a9fe:a9fe::", True),
        ("llm.example.org", "2001:0:a9fe:a9fe::1", True),
        ("llm.example.org", "fd00:ec2::254", True),
        ("llm.example.org", "fd00:ec2::23", True),
        ("llm.example.org", "fd20:ce::254", True),
        ("llm.example.org", "fd00:c1::a9fe:a9fe", True),
        ("llm.example.org", "fd00:42::42", True),
        ("llm.example.org", "100.100.100.200", True),
        ("llm.example.org", "64:ff9b::6464:64c8", True),
        ("llm.example.org", "168.63.129.16", True),
        ("api.openai.com", "64:ff9b::5db8:d822", False),
        ("api.openai.com", "64:ff9b::a00:1", True),
        ("llm.example.org", "192.0.2.7", False),
        ("api.openai.com", "192.0.2.7", True),
        ("api.openai.com", "93.184.216.34", False),
        ("localhost", "127.0.0.1", False),
        ("ollama", "127.0.1.1", False),
        ("127.0.0.1", "127.0.0.1", False),
        ("::1", "::1", False),
    ],
)
def test_what_a_name_stands_for_is_looked_at(host: str, resolved: str, refused: bool) -> None:
    assert bool(resolved_problem(host, resolved)) is refused


def resolver(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Play the name server: one answer after the other, the last one for ever. Return what it was asked."""
    hosts: list[str] = []

    def answer(host: str, port: int, *_rest: Any, **_more: Any) -> list[Any]:
        address = host
        if not host[0].isdigit():
            hosts.append(host)
            address = answers[min(len(hosts), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return hosts


def test_a_name_that_was_made_to_point_inside_is_not_called(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver(monkeypatch, "127.0.0.1")
    refusal = send(Endpoint(f"http://rebound.example.org:{listening.server_port}/v1", SecretStr(KEY)), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert refusal.message == "rebound.example.org stands for 127.0.0.1, which is this machine."
    assert listening.requests == []


def test_a_name_is_resolved_once_and_that_is_called(listening: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = resolver(monkeypatch, "127.0.0.1", "169.254.169.254")
    assert isinstance(send(Endpoint(f"http://ollama:{listening.server_port}/v1"), REQUEST), Completion)
    assert hosts == ["ollama"]


def test_a_redirect_is_not_followed(listening: Listening) -> None:
    listening.redirects_to = f"http://127.0.0.1:{listening.server_port}/elsewhere"
    refusal = send(Endpoint(f"http://127.0.0.1:{listening.server_port}/v1", SecretStr(KEY)), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert len(listening.requests) == 1


@pytest.mark.django_db
def test_a_judge_is_not_made_with_an_address_that_is_not_allowed() -> None:
    with pytest.raises(Refused, match="is not allowed"):
        add_judge(name="x", kind=JudgeKind.LLM, model="m", base_url="http://169.254.169.254/v1")
    assert not Judge.objects.exists()


@pytest.mark.django_db
def test_a_judge_whose_host_was_taken_off_the_list_is_not_called(settings: Settings) -> None:
    settings.LLM_ALLOWED_HOSTS = ["gpu1:8000"]
    judge = add_judge(name="x", kind=JudgeKind.LLM, model="m", base_url="http://gpu1:8000/v1")[0]
    assert endpoint_at(judge.base_url).base_url == "http://gpu1:8000/v1"
    settings.LLM_ALLOWED_HOSTS = []
    with pytest.raises(Refused, match="gpu1:8000 is not allowed"):
        endpoint_at(judge.base_url)


def test_the_key_goes_to_its_own_address_only(listening: Listening, settings: Settings) -> None:
    settings.LLM_ALLOWED_HOSTS = [f"127.0.0.1:{listening.server_port}"]
    judge = Judge(name="x", kind=JudgeKind.LLM, model="m", base_url=f"http://127.0.0.1:{listening.server_port}/v1")
    assert isinstance(send(endpoint_at(judge.base_url), REQUEST), Completion)
    assert KEY not in listening.requests[0]
    assert endpoint_at("").api_key == SecretStr(KEY)
    assert endpoint_at("http://llm.lab:9000/other").api_key == SecretStr("")


def test_a_proxy_gets_its_password_and_resolves_names(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"ann:word@127.0.0.1:{listening.server_port}")
    assert isinstance(send(Endpoint("http://llm.invalid:9000/v1", SecretStr(KEY)), REQUEST), Completion)
    assert "Host: llm.invalid:9000" in listening.requests[0]
    assert f"Proxy-Authorization: Basic {b64encode(b'ann:word').decode()}" in listening.requests[0]


@pytest.mark.parametrize("spared", ["127.0.0.1", "*", "elsewhere.example, 127.0.0.1"])
def test_a_host_without_proxy_is_called_directly(
    listening: Listening, monkeypatch: pytest.MonkeyPatch, spared: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", spared)
    endpoint = Endpoint(f"http://127.0.0.1:{listening.server_port}/v1", SecretStr(KEY))
    assert isinstance(send(endpoint, REQUEST), Completion)
