"""The simulated LLM over real HTTP: faults on demand and at rates, its log, many requests at once."""

import http.client
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from llmjobs.simulator.answering import MODEL, reply_to
from llmjobs.simulator.server import FAILURES, MALFORMED, spoiled
from loadtest.servers.faults import Chooser, Faults
from loadtest.servers.simulator import LoggedSimulator, Served, ServedLog, most_at_once, running_simulator

SYSTEM = "You are assigning nuggets: support, partial_support or not_support."


def body(passage: str = "cats purr", **more: Any) -> dict[str, Any]:
    user = f'<query>cats</query>\n<passage>{passage}</passage>\n<nuggets>["cats purr", "dogs bark"]</nuggets>'
    return {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": user}],
    } | more


def call(
    simulator: LoggedSimulator, method: str, path: str, sent: object = None, headers: dict[str, str] | None = None
) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", simulator.server_port, timeout=20)
    try:
        connection.request(method, path, json.dumps(sent) if sent is not None else None, headers or {})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def chat(simulator: LoggedSimulator, sent: object = None, path: str = "/v1/chat/completions") -> tuple[int, Any]:
    status, answer = call(simulator, "POST", path, sent or body())
    return status, json.loads(answer)


def content(simulator: LoggedSimulator, sent: object = None) -> str:
    return str(chat(simulator, sent)[1]["choices"][0]["message"]["content"])


def raw_request() -> bytes:
    sent = json.dumps(body()).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(sent), sent)


def wait_for_lines(simulator: LoggedSimulator, number: int) -> None:
    end = time.monotonic() + 20
    while len(simulator.log.served()) < number and time.monotonic() < end:
        time.sleep(0.01)


def test_it_names_itself_whatever_model_was_asked_for() -> None:
    with running_simulator() as simulator:
        status, answer = chat(simulator)
        _, models = call(simulator, "GET", "/v1/models")
    assert (status, answer["model"], answer["object"]) == (200, MODEL, "chat.completion")
    assert (
        answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]
    )
    assert [model["id"] for model in json.loads(models)["data"]] == [MODEL]
    assert "word-overlap" in MODEL


def test_the_same_request_gets_the_same_answer() -> None:
    with running_simulator() as simulator:
        assert content(simulator) == content(simulator) == '["support", "not_support"]'


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"model": "x"}, "messages is missing"),
        (body(stream=True), "stream"),
        ({"messages": ["x"]}, "a message is"),
    ],
)
def test_a_request_that_is_none_is_refused(sent: object, message: str) -> None:
    with running_simulator() as simulator:
        status, answer = chat(simulator, sent)
        assert status == 400
        assert message in answer["error"]["message"]
        assert call(simulator, "GET", "/log")[1] == ""


def test_unknown_paths_are_not_found() -> None:
    with running_simulator() as simulator:
        assert call(simulator, "GET", "/etc/passwd")[0] == 404
        assert call(simulator, "POST", "/v1/embeddings", {})[0] == 404


def test_a_body_of_unknown_length_is_refused() -> None:
    with running_simulator() as simulator, socket.create_connection(("127.0.0.1", simulator.server_port)) as raw:
        raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 413")


def test_content_in_parts_is_read() -> None:
    parts = [{"type": "text", "text": part["content"]} for part in body()["messages"]]
    with running_simulator() as simulator:
        assert (
            content(simulator, {"messages": [{"role": "user", "content": parts}]}) == '["support", "not_support"]'
        )


def test_azure_paths_are_served_too() -> None:
    with running_simulator() as simulator:
        path = "/openai/deployments/judge/chat/completions?api-version=2024-10-21"
        key = {"api-key": "any"}
        assert call(simulator, "POST", path, body(), key)[0] == 200
        assert call(simulator, "POST", path, body())[0] == 404
        assert call(simulator, "POST", path.partition("?")[0], body(), key)[0] == 404


def test_a_connection_is_kept_for_the_next_request() -> None:
    with running_simulator() as simulator:
        connection = http.client.HTTPConnection("127.0.0.1", simulator.server_port)
        for _ in range(2):
            connection.request("GET", "/v1/models")
            connection.getresponse().read()
            assert connection.sock is not None
        connection.close()


@pytest.mark.parametrize(
    ("kind", "status"),
    [("rate_limited", 429), ("server_error", 500), ("unavailable", 503), ("bad_request", 400), ("auth", 401)],
)
def test_a_named_fault_comes_once(kind: str, status: int) -> None:
    with running_simulator() as simulator:
        call(simulator, "POST", "/faults", {"next": [kind]})
        first, answer = chat(simulator)
        assert (first, chat(simulator)[0]) == (status, 200)
        assert answer["error"]["message"]
        assert [(entry.fault, entry.status, entry.seen) for entry in simulator.log.served()] == [
            (kind, status, 1),
            ("", 200, 2),
        ]


def test_malformed_replies_are_what_they_are_called() -> None:
    with running_simulator(next=[*MALFORMED, "empty"]) as simulator:
        answers = [chat(simulator)[1]["choices"][0] for _ in range(5)]
    texts = dict(zip([*MALFORMED, "empty"], (answer["message"]["content"] for answer in answers), strict=True))
    assert [answer["finish_reason"] for answer in answers] == ["length", "stop", "stop", "stop", "content_filter"]
    assert texts["truncated"] == '["support", "'
    assert '["support", "not_support"]' in texts["wrapped"].splitlines()
    assert json.loads(texts["out_of_vocabulary"]) == ["support", "somewhat_supported"]
    assert len(json.loads(texts["wrong_length"])) == 3
    assert texts["empty"] == ""


def test_every_task_can_be_spoiled() -> None:
    data = '<query>cats</query><segment n="1">cats</segment><nuggets>[]</nuggets>'
    nuggetize = reply_to((("user", data),))
    grade = reply_to((("user", "<query>cats</query><passage>cats</passage>"),))
    assert spoiled("out_of_vocabulary", nuggetize)[0] == "I cannot help with that."
    assert len(json.loads(spoiled("wrong_length", nuggetize)[0])) > 200
    assert spoiled("out_of_vocabulary", grade)[0] == "somewhat_supported"
    assert spoiled("wrong_length", grade)[0] == '["3", "3"]'


@pytest.mark.parametrize("kind", ["dropped", "timeout"])
def test_a_connection_can_break_without_an_answer(kind: str) -> None:
    with running_simulator(next=[kind], hang_s=0.05) as simulator:
        with pytest.raises(http.client.HTTPException):
            chat(simulator)
        assert [(entry.fault, entry.status) for entry in simulator.log.served()] == [(kind, 0)]
        assert chat(simulator)[0] == 200


def test_a_request_that_hangs_does_not_hold_up_the_end() -> None:
    with closing(socket.socket()) as hanging:
        with running_simulator(next=["timeout"]) as simulator:
            hanging.connect(("127.0.0.1", simulator.server_port))
            hanging.sendall(raw_request())
            wait_for_lines(simulator, 1)
        assert hanging.recv(1) == b""


def test_the_whole_server_can_be_down_and_come_back() -> None:
    with running_simulator() as simulator:
        call(simulator, "POST", "/faults", {"down": "503"})
        assert chat(simulator)[0] == 503
        assert call(simulator, "GET", "/v1/models")[0] == 503
        call(simulator, "POST", "/faults", {"down": "close"})
        with pytest.raises(http.client.RemoteDisconnected):
            chat(simulator)
        call(simulator, "POST", "/faults", {"down": ""})
        assert chat(simulator)[0] == 200
        assert [(entry.fault, entry.seen) for entry in simulator.log.served()] == [
            ("down", 0),
            ("down", 0),
            ("", 1),
        ]


def test_switches_can_be_read_back() -> None:
    with running_simulator(latency_ms=3) as simulator:
        status, answer = call(simulator, "POST", "/faults", {"fail_rate": 0.25, "rates": {"empty": 0.5}})
        assert status == 200
        assert answer == call(simulator, "GET", "/faults")[1]
        assert json.loads(answer) | {"latency_ms": 3, "fail_rate": 0.25, "rates": {"empty": 0.5}} == json.loads(
            answer
        )


@pytest.mark.parametrize(
    "wanted",
    [
        {"fail_rate": 2},
        {"rates": {"flood": 0.1}},
        {"next": ["flood"]},
        {"down": []},
        {"colour": 1},
        [],
        {"seed": "x"},
        {"latency_ms": -1},
        {"fail_rate": True},
        {"always": {"text": "flood"}},
        {"always": {"": "empty"}},
    ],
)
def test_wrong_switches_change_nothing(wanted: object) -> None:
    with running_simulator() as simulator:
        status, answer = call(simulator, "POST", "/faults", wanted)
        assert status == 400
        assert json.loads(answer)["error"]["message"]
        assert simulator.chooser.faults == Faults()


def chosen(seed: int, times: int = 1) -> list[str]:
    chooser = Chooser(Faults(seed=seed, fail_rate=0.2, malformed_rate=0.2))
    return [chooser.choose(f"request {n % 1000}")[0] for n in range(1000 * times)]


def test_faults_are_the_same_for_the_same_seed_and_others_for_another() -> None:
    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)


def test_faults_come_about_as_often_as_asked() -> None:
    found = chosen(1)
    for kind in (*FAILURES, *MALFORMED):
        assert 25 <= found.count(kind) <= 80
    assert 530 <= found.count("") <= 670


def test_a_retry_has_another_chance() -> None:
    found = chosen(1, times=2)
    failed_first = [n for n in range(1000) if found[n]]
    assert sum(not found[1000 + n] for n in failed_first) > len(failed_first) / 3


def test_the_order_of_requests_changes_no_fault() -> None:
    names = [f"request {n}" for n in range(200)]
    forward, backward = Chooser(Faults(fail_rate=0.5)), Chooser(Faults(fail_rate=0.5))
    assert {name: forward.choose(name) for name in names} == {
        name: backward.choose(name) for name in reversed(names)
    }


def test_only_requests_with_a_named_text_always_fail() -> None:
    with running_simulator(always={"wolves howl": "bad_request"}) as simulator:
        assert [chat(simulator, body("wolves howl"))[0] for _ in range(2)] == [400, 400]
        assert chat(simulator)[0] == 200


def test_none_in_the_list_of_next_faults_lets_one_pass() -> None:
    chooser = Chooser(Faults(fail_rate=1, next=["none", "empty"]))
    assert [chooser.choose("x")[0] for _ in range(2)] == ["", "empty"]
    assert chooser.choose("x")[0] in FAILURES


def test_each_request_is_a_line_of_the_log_in_memory_and_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "served.jsonl"
    with running_simulator(log=file) as simulator:
        chat(simulator)
        chat(simulator, body(passage="القطط تخرخر"))
        assert file.read_text(encoding="utf-8") == call(simulator, "GET", "/log")[1]
        first, second = simulator.log.served()
    assert (first.n, first.task, first.requested_model, first.status, first.seen) == (
        1,
        "assign",
        "gpt-4o",
        200,
        1,
    )
    assert first.prompt_tokens > first.completion_tokens > 0
    assert first.hash != second.hash
    assert first.at <= first.until <= second.at


def test_the_log_file_is_appended_to(tmp_path: Path) -> None:
    file = tmp_path / "served.jsonl"
    for _ in range(2):
        with running_simulator(log=file) as simulator:
            chat(simulator)
    assert len(file.read_text(encoding="utf-8").splitlines()) == 2


def test_a_client_that_left_before_the_answer_is_logged_as_gone() -> None:
    with running_simulator(latency_ms=100) as simulator:
        with socket.create_connection(("127.0.0.1", simulator.server_port)) as leaving:
            leaving.sendall(raw_request())
        wait_for_lines(simulator, 1)
        assert [entry.status for entry in simulator.log.served()] == [499]


def test_requests_are_served_at_the_same_time() -> None:
    with running_simulator(latency_ms=300) as simulator:
        with ThreadPoolExecutor(32) as pool:
            statuses = list(pool.map(lambda n: chat(simulator, body(passage=f"number {n}"))[0], range(32)))
        served = simulator.log.served()
    assert statuses == [200] * 32
    assert most_at_once(served) >= 8
    assert all(entry.until - entry.at >= 0.25 for entry in served)  # less than said: clocks are rounded and set


def test_the_busiest_moment_is_counted() -> None:
    def span(at: float, until: float) -> Served:
        return Served(1, at, until, "", 1, "", "", 200, "", 0, 0)

    assert most_at_once([span(0, 2), span(1, 3), span(2, 4)]) == 2
    assert most_at_once([]) == 0


def test_a_closed_log_takes_no_more_lines_in_its_file(tmp_path: Path) -> None:
    log = ServedLog(tmp_path / "x")
    log.close()
    log.close()
    log.add(Served(1, 0, 0, "", 1, "", "", 200, "", 0, 0))
    assert (tmp_path / "x").read_text(encoding="utf-8") == ""


def test_a_port_in_use_is_said() -> None:
    with running_simulator() as simulator, pytest.raises(OSError, match="in use"):
        LoggedSimulator(port=simulator.server_port)
