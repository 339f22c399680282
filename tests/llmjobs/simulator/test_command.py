"""`simulate_llm`: prints where it is, serves, and ends when it is told to."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from llmjobs.client import CallRefusal, ChatRequest, Completion, Endpoint, close_clients, send
from loadtest.servers.simulator import running_simulator

pytestmark = pytest.mark.slow


def started(*options: str) -> "subprocess.Popen[str]":
    return process_of(str(settings.BASE_DIR / "manage.py"), "simulate_llm", *options)


def process_of(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_end(end: signal.Signals) -> None:
    with started("--latency-ms", "1", "--malformed-rate", "0", "--seed", "3") as process:
        assert process.stdout
        base_url = process.stdout.readline().strip()
        answer = send(Endpoint(base_url=base_url), ChatRequest("gpt-4o", (("user", "Hello"),)))
        process.send_signal(end)
        assert process.wait(timeout=20) == 0
        assert process.stderr
        assert process.stderr.read() == ""
    close_clients()
    assert isinstance(answer, Completion)


def test_the_one_of_load_tests_keeps_a_log(tmp_path: Path) -> None:
    log = tmp_path / "served.jsonl"
    with process_of("-m", "loadtest.servers.simulator", "--latency-ms", "1", "--log", str(log)) as process:
        assert process.stdout
        base_url = process.stdout.readline().strip()
        answer = send(Endpoint(base_url=base_url), ChatRequest("gpt-4o", (("user", "Hello"),)))
        process.terminate()
        assert process.wait(timeout=20) == 0
        assert process.stderr
        assert process.stderr.read() == ""
    close_clients()
    assert isinstance(answer, Completion)
    assert json.loads(log.read_text(encoding="utf-8"))["task"] == "unknown"


def test_what_it_fails_is_as_often_as_asked() -> None:
    with started("--fail-rate", "1") as process:
        assert process.stdout
        endpoint = Endpoint(base_url=process.stdout.readline().strip(), timeout=1)
        assert isinstance(send(endpoint, ChatRequest("gpt-4o", (("user", "Hello"),))), CallRefusal)
        process.terminate()
        process.wait(timeout=20)
    close_clients()


@pytest.mark.parametrize(
    "options",
    [
        ("--fail-rate", "2"),
        ("--fail-rate", "x"),
        ("--port", "70000"),
        ("--latency-ms", "-1"),
        ("--malformed-rate", "-1"),
    ],
)
def test_wrong_options_are_wrong_usage(options: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match="is not a"):
        call_command("simulate_llm", *options)


def test_a_port_in_use_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    # The command's own signal handlers are for a process of its own.
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    with running_simulator() as simulator, pytest.raises(SystemExit) as ended:
        call_command("simulate_llm", "--port", str(simulator.server_port))
    for number, handler in before:
        signal.signal(number, handler)
    assert ended.value.code == 1
    assert "cannot start" in capsys.readouterr().err
