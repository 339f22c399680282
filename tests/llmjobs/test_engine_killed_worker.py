"""A worker killed in the middle, twice: one outcome an item, and no answer asked for again.

The worker is a process of its own, with the embedded broker on SQLite, and with Redis on PostgreSQL where they are
found.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import settings

from llmjobs.simulator import Simulator, running_simulator
from tests import needed
from tests.llmjobs.worlds import answered_again

POSTGRESQL = os.environ.get("TEST_POSTGRESQL_URL", "postgres://postgres@127.0.0.1:5432/postgres")
LATENCY_MS, ITEMS, SLOTS = 50, 60, 2
Environment = dict[str, str]

MAKE_WORLD = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests.llmjobs.worlds import make_world, start_assigning
start_assigning(make_world(topics=3, runs=20, nuggets=2))
"""
WAIT = """
import time
from jobs.models import Job
end = time.monotonic() + 30
while Job.objects.get().state == "running":
    assert time.monotonic() < end, "the job does not end"
    time.sleep(0.1)
"""
CHECK = """
from evaluation.models import Assignment
from jobs.models import Job, WorkItem
from tests.llmjobs.worlds import assert_calls_are_sound
assert_calls_are_sound()
done = WorkItem.objects.filter(state="done")
print(Job.objects.get().state, done.count(), WorkItem.objects.count(), Assignment.objects.count())
print(done.filter(attempt__gt=1).exists())
"""


@pytest.fixture
def embedded(tmp_path: Path) -> Environment:
    """Everything in one file and one process."""
    return {"DATABASE_URL": f"sqlite:///{tmp_path / 'assay.sqlite3'}", "CELERY_BROKER_URL": "memory://"}


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Environment]:
    """A scratch database on PostgreSQL, and a Redis of the test's own."""
    if not shutil.which("redis-server"):
        needed.lacking("redis-server")
    try:
        server = psycopg.connect(POSTGRESQL, connect_timeout=3, autocommit=True)
    except psycopg.OperationalError:
        needed.lacking(f"PostgreSQL at {POSTGRESQL}")
        raise
    name = f"assay_kill_{uuid.uuid4().hex[:8]}"
    with server, redis(tmp_path) as broker:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield {
                "DATABASE_URL": urlunsplit(urlsplit(POSTGRESQL)._replace(path=f"/{name}")),
                "CELERY_BROKER_URL": broker,
            }
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """Run a Redis that keeps nothing; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()


def shell(environment: Environment, code: str) -> list[str]:
    """Run a few lines in a Django process of its own; the words that they print."""
    command = [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"]
    ran = subprocess.run(
        command, env=environment, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


@contextmanager
def worker(environment: Environment, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a worker; it is killed at the end at the latest."""
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-P", "threads", "-c", str(SLOTS)]
    command += ["--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
    with log.open("ab") as out:
        process = subprocess.Popen(command, env=environment, cwd=settings.BASE_DIR, stdout=out, stderr=out)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("kind", ["embedded", pytest.param("services", marks=pytest.mark.thorough)])
def test_a_worker_killed_twice_loses_and_doubles_nothing(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    environment: Environment = os.environ | request.getfixturevalue(kind)
    environment |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "JOB_LEASE_SECONDS": "2",
        "LLM_CONCURRENCY": str(SLOTS),
        "OPENAI_MODEL": "word-overlap-simulator",
    }
    log = tmp_path / "worker.log"
    with ExitStack() as stack:
        simulator = stack.enter_context(running_simulator(latency_ms=LATENCY_MS))
        environment["OPENAI_BASE_URL"] = simulator.base_url
        shell(environment, MAKE_WORLD)
        for served in (12, 32):
            with worker(environment, log):
                wait_for_lines(simulator, served, log)
        with worker(environment, log) as last:
            shell(environment, WAIT)
            last.terminate()
            assert last.wait(timeout=15) == 0, log.read_text(encoding="utf-8")
        lines = simulator.log.served()
    items = str(ITEMS)
    assert shell(environment, CHECK) == ["done", items, items, str(2 * ITEMS), "True"]
    # Those under way at a kill were paid for and not recorded; at most what two kills can have had under way.
    assert len(answered_again(lines)) <= 2 * 2 * SLOTS
    assert len(lines) <= ITEMS + 2 * 2 * SLOTS


def wait_for_lines(simulator: Simulator, number: int, log: Path) -> None:
    """Look until so many requests were served; where they are not, show what the worker said."""
    end = time.monotonic() + 30
    while len(simulator.log.served()) < number:
        assert time.monotonic() < end, log.read_text(encoding="utf-8")
        time.sleep(0.05)
