"""A worker as it is started: in threads or not at all, under a name of its own, with the log of the settings."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings

from assay import SERVERS
from loadtest.servers.simulator import running_simulator
from tests.llmjobs.engine.test_worker_messages import MAKE_WORLD
from tests.llmjobs.processes import WAIT, Environment, shell, worker
from tests.worlds.installation import new_database

pytestmark = pytest.mark.slow

CELERY = [sys.executable, "-m", "celery", "-A", "config"]


def celery(*words: str, **own: str) -> "subprocess.CompletedProcess[str]":
    command = [*CELERY, *words]
    return subprocess.run(
        command, cwd=settings.BASE_DIR, env=os.environ | own, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", [(), ("--pool", "prefork"), ("--autoscale=3,1",), ("-P", "solo"), ("-c", "2")])
def test_a_worker_with_another_pool_is_told_the_right_words(words: tuple[str, ...]) -> None:
    refused = celery("worker", *words)
    assert refused.returncode == 2
    assert "`assay start worker` starts one" in refused.stderr
    assert "--pool threads" in SERVERS["worker"]


def test_two_workers_of_one_host_have_two_names(services: Environment, tmp_path: Path) -> None:
    environment = os.environ | services
    with worker(environment, tmp_path / "one.log"), worker(environment, tmp_path / "two.log"):
        end = time.monotonic() + 120
        names: set[str] = set()
        while len(names) < 2:
            assert time.monotonic() < end, (tmp_path / "one.log").read_text("utf-8")
            answer = celery("inspect", "ping", "--json", **services).stdout
            names = set(json.loads(answer)) if answer.startswith("{") else set()
    assert all(name.startswith("assay-") for name in names)
    for log in ("one.log", "two.log"):
        assert "DuplicateNodenameWarning" not in (tmp_path / log).read_text("utf-8")


def test_a_worker_logs_at_its_level_with_the_request_s_id(tmp_path: Path, django_db_setup: None) -> None:
    environment: Environment = os.environ | {
        "DATABASE_URL": new_database(tmp_path / "assay.sqlite3"),
        "CELERY_BROKER_URL": "memory://",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "OPENAI_MODEL": "word-overlap-simulator",
        "LOG_LEVEL": "INFO",
        "LOG_FORMAT": "json",
    }
    request = "from structlog.contextvars import bind_contextvars\nbind_contextvars(request_id='the-request')\n"
    with running_simulator() as simulator:
        environment["OPENAI_BASE_URL"] = simulator.base_url
        shell(environment, request + MAKE_WORLD)
        with worker(environment, tmp_path / "worker.log"):
            shell(environment, WAIT)
    # Celery greets on standard output.
    printed = (tmp_path / "worker.log").read_text("utf-8").splitlines()
    lines = [json.loads(line) for line in printed if line.startswith("{")]
    assert "the-request" in {line.get("request_id") for line in lines if line["event"] == "job_taken_up"}
    assert not [line for line in lines if line["logger"].startswith("celery")]
