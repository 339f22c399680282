"""Workers as processes of their own: with the embedded broker on SQLite, and with Redis on PostgreSQL."""

import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import settings

from loadtest.servers.simulator import LoggedSimulator
from tests import needed
from tests.needed import POSTGRESQL
from tests.worlds.installation import new_database

SLOTS = 2
Environment = dict[str, str]

WAIT = """
import time
from jobs.models import Job
end = time.monotonic() + 120
while Job.objects.get().state == "running":
    assert time.monotonic() < end, "the job does not end"
    time.sleep(0.1)
"""


@pytest.fixture
def embedded(tmp_path: Path, django_db_setup: None) -> Environment:
    return {"DATABASE_URL": new_database(tmp_path / "assay.sqlite3"), "CELERY_BROKER_URL": "memory://"}


@pytest.fixture(scope="session")
def migrated() -> Iterator[str]:
    """A database on PostgreSQL whose copies need no migration, which takes ten seconds."""
    with _scratch("assay_migrated") as name:
        code = "from django.core.management import call_command; call_command('migrate', verbosity=0)"
        shell(os.environ | {"DATABASE_URL": _address(name), "DJANGO_SETTINGS_MODULE": "config.settings"}, code)
        yield name


@pytest.fixture
def services(tmp_path: Path, migrated: str) -> Iterator[Environment]:
    """A scratch database on PostgreSQL, and a Redis of the test's own."""
    needed.program("redis-server")
    with _scratch("assay_kill", f"TEMPLATE {migrated}") as name, redis(tmp_path) as broker:
        yield {"DATABASE_URL": _address(name), "CELERY_BROKER_URL": broker}


@contextmanager
def _scratch(kind: str, like: str = "") -> Iterator[str]:
    try:
        server = psycopg.connect(POSTGRESQL, connect_timeout=3, autocommit=True)
    except psycopg.OperationalError:
        needed.lacking("PostgreSQL", f"at {POSTGRESQL}")
        raise
    name = f"{kind}_{uuid.uuid4().hex[:8]}"
    with server:
        server.execute(f"CREATE DATABASE {name} {like}")
        try:
            yield name
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _address(database: str) -> str:
    return urlunsplit(urlsplit(POSTGRESQL)._replace(path=f"/{database}"))


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()


def shell(environment: Mapping[str, str], code: str) -> list[str]:
    """Run a few lines in a Django process of its own; the words that they print."""
    command = [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"]
    ran = subprocess.run(
        command, env=environment, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


@contextmanager
def worker(environment: Environment, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-P", "threads", "-c", "3"]
    command += ["--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
    with log.open("ab") as out:
        process = subprocess.Popen(command, env=environment, cwd=settings.BASE_DIR, stdout=out, stderr=out)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def wait_for_lines(simulator: LoggedSimulator, number: int, log: Path) -> None:
    """Look until so many requests were served; where they are not, show what the worker said."""
    end = time.monotonic() + 120
    while len(simulator.log.served()) < number:
        assert time.monotonic() < end, log.read_text(encoding="utf-8")
        time.sleep(0.05)
