"""Run the soak tests on every database that is found: `python -m soak [sqlite|postgresql ...]`, `make soak`.

llm_chaos: a campaign by an LLM that fails. desk_chaos: assessors at work for `--seconds` while everything breaks.
SQLite with the embedded broker; PostgreSQL (`TEST_POSTGRESQL_URL`), for llm_chaos with a Redis, where they are found.
Databases, Redis, web processes and workers are the test's own and gone afterwards. Exits with 1 on a violation.
"""

import argparse
import importlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import django
import psycopg
from psycopg import sql

POSTGRESQL = os.environ.get("TEST_POSTGRESQL_URL", "postgres://postgres@127.0.0.1:5432/postgres")
TESTS = ("llm_chaos", "desk_chaos", "judging_load", "judging_faults")
QUEUEING = ("llm_chaos",)
"""Tests that need a broker."""

Environment = dict[str, str]


def main() -> int:
    """Run what was named, or all; in a child process, one test on the database of the environment."""
    if sys.argv[1:2] == ["child"]:
        return _child(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="ON", help=f"of {', '.join(SURROUNDINGS)}; all without one")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the logs here")
    parser.add_argument("--only", choices=TESTS, help="of the tests, this one")
    parser.add_argument("--seconds", type=float, default=1800.0, help="how long desk_chaos works; default: 1800")
    parser.add_argument(
        "--spoil", action="store_true", help="let desk_chaos lose something, to see that it is found"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - SURROUNDINGS.keys():
        parser.error(f"nothing is named {', '.join(sorted(unknown))}")
    said = {"desk_chaos": [str(options.seconds), *(["spoil"] if options.spoil else [])]}
    tests = [(test, said.get(test, [])) for test in TESTS if options.only in (None, test)]
    names = options.names or SURROUNDINGS
    failed = [
        f"{test} on {name}"
        for name in names
        for test, more in tests
        if not _passes(test, more, name, options.keep)
    ]
    if failed:
        print(f"\nFAILED: {', '.join(failed)}")
    return 1 if failed else 0


def _passes(test: str, more: Sequence[str], name: str, keep: Path | None) -> bool:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-soak-")))
        found = stack.enter_context(SURROUNDINGS[name](folder, test in QUEUEING))
        if isinstance(found, str):
            print(f"{test} on {name}: skipped, {found}")
            return os.environ.get("CI") != "true"
        print(f"{test} on {name}", flush=True)
        logs = (keep or folder) / name
        logs.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "soak", "child", test, str(logs), *more]
        return subprocess.call(command, env=os.environ | found) == 0  # noqa: S603


def _child(name: str, logs: Path, more: Sequence[str]) -> int:
    """Run one test; `more`: the seconds of desk_chaos, and whether to spoil it."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    run: Callable[..., int] = importlib.import_module(f"soak.{name}").run
    return run(logs, float(more[0]), "spoil" in more) if more else run(logs)


@contextmanager
def _embedded(folder: Path, queueing: bool) -> Iterator[Environment | str]:
    """Everything in one file and one process."""
    yield {"DATABASE_URL": f"sqlite:///{folder / 'assay.sqlite3'}", "CELERY_BROKER_URL": "memory://"}


@contextmanager
def _services(folder: Path, queueing: bool) -> Iterator[Environment | str]:
    """A scratch database on PostgreSQL, and for queues a Redis that keeps nothing; or why there is none."""
    if queueing and not shutil.which("redis-server"):
        yield "there is no redis-server"
        return
    try:
        server = psycopg.connect(POSTGRESQL, connect_timeout=3, autocommit=True)
    except psycopg.OperationalError:
        yield f"PostgreSQL does not answer at {urlsplit(POSTGRESQL).hostname}"
        return
    name = f"assay_soak_{uuid.uuid4().hex[:8]}"
    with server, _redis(folder) if queueing else nullcontext("memory://") as broker:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            address = urlunsplit(urlsplit(POSTGRESQL)._replace(path=f"/{name}"))
            yield {"DATABASE_URL": address, "CELERY_BROKER_URL": broker}
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:  # noqa: S603
        try:
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()


SURROUNDINGS: dict[str, Callable[[Path, bool], AbstractContextManager[Environment | str]]] = {
    "sqlite": _embedded,
    "postgresql": _services,
}

if __name__ == "__main__":
    sys.exit(main())
