"""One request over real HTTP: what every kind of trouble becomes, and that the key stays where it belongs."""

import logging
import random
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from pydantic import SecretStr

from evaluation.errors import Refused
from llmjobs.client import (
    LONGEST_REQUESTED_WAIT,
    LONGEST_WAIT,
    CallRefusal,
    ChatRequest,
    Completion,
    Endpoint,
    back_off,
    close_clients,
    endpoint_from_environment,
    send,
)
from llmjobs.simulator.answering import MODEL
from loadtest.servers.simulator import LoggedSimulator, most_at_once, running_simulator

KEY = "sk-very-secret-0123456789"
SYSTEM = "You are assigning nuggets: support, partial_support or not_support."
USER = '<query>cats</query>\n<passage>cats purr</passage>\n<nuggets>["cats purr", "dogs bark"]</nuggets>'
REQUEST = ChatRequest("gpt-4o", (("system", SYSTEM), ("user", USER)))


@pytest.fixture(autouse=True)
def _closed_clients() -> Iterator[None]:
    yield
    close_clients()


@pytest.fixture
def simulator() -> Iterator[LoggedSimulator]:
    with running_simulator() as running:
        yield running


def endpoint_of(simulator: LoggedSimulator, **more: Any) -> Endpoint:
    return Endpoint(base_url=simulator.base_url, api_key=SecretStr(KEY), **more)


def refused(simulator: LoggedSimulator, fault: str, **more: Any) -> CallRefusal:
    simulator.chooser.switch({"next": [fault]})
    refusal = send(endpoint_of(simulator, **more), REQUEST)
    assert isinstance(refusal, CallRefusal)
    return refusal


class Canned(HTTPServer):
    """A server that answers as it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), CannedHandler)
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.canned: tuple[int, dict[str, str], bytes] = (200, {}, b"")

    def answers(self, status: int, headers: dict[str, str], body: bytes) -> Endpoint:
        self.canned = (status, headers, body)
        return Endpoint(base_url=f"http://127.0.0.1:{self.server_port}/v1", api_key=SecretStr(KEY))


class CannedHandler(BaseHTTPRequestHandler):
    server: Canned

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.requests.append((self.path, dict(self.headers), self.rfile.read(length)))
        status, headers, body = self.server.canned
        self.send_response(status)
        for name, value in (
            {"Content-Type": "application/json", "Content-Length": str(len(body))} | headers
        ).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def canned() -> Iterator[Canned]:
    with Canned() as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_answer_says_who_gave_it_and_what_it_took(simulator: LoggedSimulator) -> None:
    answer = send(endpoint_of(simulator), REQUEST)
    assert isinstance(answer, Completion)
    assert (answer.text, answer.model, answer.finish_reason) == ('["support", "not_support"]', MODEL, "stop")
    assert answer.prompt_tokens
    assert answer.completion_tokens
    assert answer.latency_ms >= 0


def test_a_cut_reply_is_an_answer_that_says_so(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"next": ["truncated"]})
    answer = send(endpoint_of(simulator), REQUEST)
    assert isinstance(answer, Completion)
    assert answer.finish_reason == "length"


def test_an_answer_without_usage_or_content_is_one(canned: Canned) -> None:
    answer = send(canned.answers(200, {}, b'{"model": "m", "choices": [{"message": {"content": null}}]}'), REQUEST)
    assert isinstance(answer, Completion)
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens, answer.finish_reason) == (
        "",
        None,
        None,
        "",
    )


def test_nul_never_reaches_the_database(canned: Canned) -> None:
    answer = send(canned.answers(200, {}, b'{"choices": [{"message": {"content": "a\\u0000b"}}]}'), REQUEST)
    assert isinstance(answer, Completion)
    assert answer.text == "ab"


@pytest.mark.parametrize(
    ("fault", "kind", "status", "worth_retrying"),
    [
        ("rate_limited", "rate_limited", 429, True),
        ("server_error", "server_error", 500, True),
        ("unavailable", "server_error", 503, True),
        ("not_json", "server_error", 200, True),
        ("bad_request", "bad_request", 400, False),
        ("auth", "auth", 401, False),
        ("dropped", "unreachable", None, True),
    ],
)
def test_each_trouble_has_its_kind(
    simulator: LoggedSimulator, fault: str, kind: str, status: int | None, worth_retrying: bool
) -> None:
    refusal = refused(simulator, fault)
    assert (refusal.kind, refusal.status, refusal.worth_retrying) == (kind, status, worth_retrying)
    assert refusal.message
    assert isinstance(send(endpoint_of(simulator), REQUEST), Completion)


def test_no_answer_in_time_is_a_timeout(simulator: LoggedSimulator) -> None:
    refusal = refused(simulator, "timeout", timeout=0.2)
    assert (refusal.kind, refusal.status, refusal.worth_retrying) == ("timeout", None, True)
    assert refusal.message == "No answer within 0.2 s."


def test_nothing_is_sent_twice(simulator: LoggedSimulator) -> None:
    refused(simulator, "server_error")
    refused(simulator, "dropped")
    assert len(simulator.log.served()) == 2


@pytest.mark.parametrize("down", ["503", "close"])
def test_a_server_that_is_down_speaks_for_the_whole_endpoint(simulator: LoggedSimulator, down: str) -> None:
    simulator.chooser.switch({"down": down})
    refusal = send(endpoint_of(simulator), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert refusal.whole_endpoint
    assert refusal.worth_retrying


def test_a_closed_port_is_unreachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    refusal = send(Endpoint(base_url=f"http://127.0.0.1:{port}/v1"), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert (refusal.kind, refusal.whole_endpoint) == ("unreachable", True)
    assert "refused" in refusal.message


def test_one_request_that_is_too_slow_or_wrong_blames_no_endpoint(simulator: LoggedSimulator) -> None:
    assert not refused(simulator, "bad_request").whole_endpoint
    assert not refused(simulator, "rate_limited").whole_endpoint


@pytest.mark.parametrize(
    "base_url", ["", "not a url", "ftp://127.0.0.1/v1", "http://[::1", "http://h:x/v1", "https:///v1"]
)
def test_an_address_that_is_none_is_refused_at_once(base_url: str) -> None:
    with pytest.raises(Refused, match="address"):
        Endpoint(base_url=base_url)


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'{"choices": []}', b'{"choices": "x"}', b'{"choices"', b"\xff\x00"]
)
def test_a_success_that_is_no_completion_is_an_error_of_the_server(canned: Canned, body: bytes) -> None:
    refusal = send(canned.answers(200, {}, body), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert (refusal.kind, refusal.status) == ("server_error", 200)
    assert "\0" not in refusal.message


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (403, "auth"),
        (404, "bad_request"),
        (408, "timeout"),
        (409, "server_error"),
        (422, "bad_request"),
        (502, "server_error"),
        (529, "server_error"),
    ],
)
def test_other_statuses_have_their_kind(canned: Canned, status: int, kind: str) -> None:
    refusal = send(canned.answers(status, {}, b"<html>"), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert (refusal.kind, refusal.status) == (kind, status)


def test_a_redirect_is_not_followed(canned: Canned) -> None:
    refusal = send(canned.answers(307, {"Location": "/elsewhere"}, b""), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert (refusal.kind, refusal.status, len(canned.requests)) == ("bad_request", 307, 1)


def test_retry_after_is_told(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"retry_after": 2.5})
    assert refused(simulator, "rate_limited").retry_after == 2.5
    assert refused(simulator, "server_error").retry_after is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3),
        ({"Retry-After-Ms": "250", "Retry-After": "3"}, 0.25),
        ({"Retry-After": "-1"}, 0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_however_it_is_said(
    canned: Canned, headers: dict[str, str], seconds: float | None
) -> None:
    refusal = send(canned.answers(429, headers, b"{}"), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert refusal.retry_after == seconds


def test_retry_after_may_be_a_date(canned: Canned) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    refusal = send(canned.answers(503, {"Retry-After": date}, b"{}"), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert refusal.retry_after is not None
    assert 30 < refusal.retry_after <= 60


def test_waits_double_with_jitter_up_to_a_limit() -> None:
    assert [back_off(attempt, None, lambda: 1.0) for attempt in (1, 2, 3)] == [0.5, 1.0, 2.0]
    assert back_off(1, None, lambda: 0.0) == 0.25
    assert back_off(10_000, None, lambda: 1.0) == LONGEST_WAIT


def test_what_the_endpoint_asks_for_is_waited_at_least() -> None:
    source = random.Random(1)  # noqa: S311
    waits = [back_off(1, 7.0, source.random) for _ in range(50)]
    assert min(waits) >= 7.0
    assert max(waits) <= 8.0
    assert len(set(waits)) == 50
    assert back_off(1, 1e9, lambda: 0.0) == LONGEST_REQUESTED_WAIT
    assert back_off(5, 0.0, lambda: 1.0) == back_off(5, None, lambda: 1.0)


def test_the_key_is_sent_and_shown_nowhere(simulator: LoggedSimulator, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint = endpoint_of(simulator)
    refusal = refused(simulator, "auth")
    send(endpoint, REQUEST)
    shown = [repr(endpoint), str(endpoint), f"{endpoint}", str(asdict(endpoint)), repr(refusal), caplog.text]
    assert not [text for text in shown if KEY in text]
    assert refusal.message.count("***") >= 1
    assert KEY not in simulator.log.text()


def test_the_key_is_hidden_in_a_reply_that_is_no_completion(canned: Canned) -> None:
    refusal = send(canned.answers(200, {}, f'{{"you sent": "{KEY}"}}'.encode()), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert KEY not in refusal.message


def test_a_key_that_cannot_be_sent_is_refused_without_being_shown() -> None:
    for key in ("sk-ключ", "sk-line\nbreak"):
        with pytest.raises(Refused) as refused:
            Endpoint(api_key=SecretStr(key))
        assert "sk-" not in refused.value.message


def test_a_password_in_the_address_is_shown_nowhere() -> None:
    endpoint = Endpoint(base_url="http://me:hush@127.0.0.1:9/v1/?token=hush")
    assert endpoint.name == "http://127.0.0.1:9/v1"
    assert "hush" not in repr(endpoint)
    assert "hush" not in repr(send(endpoint, REQUEST))


def test_without_a_key_no_other_key_is_taken(canned: Canned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    send(replace(canned.answers(200, {}, b"{}"), api_key=SecretStr("")), REQUEST)
    [(_, headers, _)] = canned.requests
    assert KEY not in str(headers)


def test_azure_gets_its_path_and_header(canned: Canned) -> None:
    base_url = canned.answers(200, {}, b'{"choices": [{"message": {"content": "x"}}]}').base_url.removesuffix(
        "/v1"
    )
    endpoint = Endpoint(base_url=base_url, api_key=SecretStr(KEY), deployment="judge", api_version="2024-06-01")
    assert isinstance(send(endpoint, REQUEST), Completion)
    [(path, headers, _)] = canned.requests
    assert path == "/openai/deployments/judge/chat/completions?api-version=2024-06-01"
    assert {name.lower(): value for name, value in headers.items()}["api-key"] == KEY
    assert endpoint.name == f"{base_url}/openai/deployments/judge"


def test_the_environment_names_the_endpoint() -> None:
    assert endpoint_from_environment({}) is None
    plain = endpoint_from_environment({"OPENAI_API_KEY": KEY})
    assert plain == Endpoint(api_key=SecretStr(KEY))
    assert plain.model == "gpt-4o"
    local = endpoint_from_environment({"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1", "OPENAI_MODEL": "llama"})
    assert local == Endpoint(base_url="http://127.0.0.1:8080/v1", model="llama")


def test_the_environment_names_azure() -> None:
    azure = {"AZURE_OPENAI_ENDPOINT": "https://me.example", "AZURE_OPENAI_API_KEY": KEY}
    found = endpoint_from_environment(azure | {"OPENAI_API_KEY": "other"})
    assert found == Endpoint(base_url="https://me.example", api_key=SecretStr(KEY), deployment="gpt-4o")
    more = {"AZURE_OPENAI_DEPLOYMENT": "judge", "AZURE_OPENAI_API_VERSION": "2025-01-01"}
    found = endpoint_from_environment(azure | more)
    assert found
    assert (found.deployment, found.api_version) == ("judge", "2025-01-01")


def test_many_threads_share_one_client_and_are_answered_at_once() -> None:
    with running_simulator(latency_ms=100) as simulator:
        requests = [replace(REQUEST, messages=(("user", f"Hello {n}"),)) for n in range(32)]
        with ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(lambda request: send(endpoint_of(simulator), request), requests))
        assert all(isinstance(answer, Completion) for answer in answers)
        assert most_at_once(simulator.log.served()) >= 8


def test_a_text_that_cannot_be_sent_is_a_bad_request(simulator: LoggedSimulator) -> None:
    refusal = send(endpoint_of(simulator), replace(REQUEST, messages=(("user", "half a pair \ud83d"),)))
    assert isinstance(refusal, CallRefusal)
    assert (refusal.kind, refusal.status, simulator.log.served()) == ("bad_request", None, [])
