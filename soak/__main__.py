"""Run the soak tests on every database that is found: `python -m soak [sqlite|postgresql ...]`, `make soak`.

SQLite with the embedded broker; PostgreSQL (`TEST_POSTGRESQL_URL`) with a Redis, where both are found.
Databases, Redis and workers are the test's own and gone afterwards. Exits with 1 on a violation.
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
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import django
import psycopg
from psycopg import sql

POSTGRESQL = os.environ.get("TEST_POSTGRESQL_URL", "postgres://postgres@127.0.0.1:5432/postgres")
TESTS = ("llm_chaos",)
Environment = dict[str, str]


def main() -> int:
    """Run what was named, or all; in a child process, one test on the database of the environment."""
    if sys.argv[1:2] == ["child"]:
        return _child(sys.argv[2], Path(sys.argv[3]))
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="ON", help=f"of {', '.join(SURROUNDINGS)}; all without one")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the logs here")
    options = parser.parse_args()
    if unknown := set(options.names) - SURROUNDINGS.keys():
        parser.error(f"nothing is named {', '.join(sorted(unknown))}")
    failed = [name for name in options.names or SURROUNDINGS if not _passes(name, options.keep)]
    if failed:
        print(f"\nFAILED: {', '.join(failed)}")
    return 1 if failed else 0


def _passes(name: str, keep: Path | None) -> bool:
    with tempfile.TemporaryDirectory(prefix="assay-soak-") as folder, SURROUNDINGS[name](Path(folder)) as found:
        if isinstance(found, str):
            print(f"{name}: skipped, {found}")
            return os.environ.get("CI") != "true"
        codes = []
        for test in TESTS:
            print(f"{test} on {name}", flush=True)
            logs = (keep or Path(folder)) / name
            logs.mkdir(parents=True, exist_ok=True)
            command = [sys.executable, "-m", "soak", "child", test, str(logs)]
            codes.append(subprocess.call(command, env=os.environ | found))  # noqa: S603
        return not any(codes)


def _child(name: str, logs: Path) -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    run: Callable[[Path], int] = importlib.import_module(f"soak.{name}").run
    return run(logs)


@contextmanager
def _embedded(folder: Path) -> Iterator[Environment | str]:
    """Everything in one file and one process."""
    yield {"DATABASE_URL": f"sqlite:///{folder / 'assay.sqlite3'}", "CELERY_BROKER_URL": "memory://"}


@contextmanager
def _services(folder: Path) -> Iterator[Environment | str]:
    """A scratch database on PostgreSQL, and a Redis that keeps nothing; or why there is none."""
    if not shutil.which("redis-server"):
        yield "there is no redis-server"
        return
    try:
        server = psycopg.connect(POSTGRESQL, connect_timeout=3, autocommit=True)
    except psycopg.OperationalError:
        yield f"PostgreSQL does not answer at {urlsplit(POSTGRESQL).hostname}"
        return
    name = f"assay_soak_{uuid.uuid4().hex[:8]}"
    with server, _redis(folder) as broker:
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


SURROUNDINGS: dict[str, Callable[[Path], AbstractContextManager[Environment | str]]] = {
    "sqlite": _embedded,
    "postgresql": _services,
}

if __name__ == "__main__":
    sys.exit(main())
