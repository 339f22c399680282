"""Run the soak tests on every database that is found: `python -m loadtest.soak [sqlite|postgresql ...]`, `make soak`.

llm_chaos: two workers at an LLM job for `--seconds` while everything that they need fails.
desk_chaos: assessors at work for `--seconds` while everything breaks.
judging_load: assessors who judge, `--assessors` at once, each a label every 2 s, with nothing in their way, timed.
judging_faults: the same while web process, worker, PostgreSQL, Redis and disk fail, one after the other.
season: a whole campaign on the production shape, while each part is restarted; PostgreSQL only.
SQLite with the embedded broker; PostgreSQL (`TEST_POSTGRESQL_URL`) where it is found; those that restart services run
on a PostgreSQL and a Redis of their own.
Databases, Redis, web processes and workers are the test's own and gone afterwards. Exits with 1 on a violation.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import django
import psycopg
from psycopg import sql

from loadtest.servers.services import private_services

POSTGRESQL = os.environ.get("TEST_POSTGRESQL_URL", "postgres://postgres@127.0.0.1:5432/postgres")
Environment = dict[str, str]
Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Soak:
    """`on`: how many judge, by database; empty where nobody does. `private`: where it stops what it runs on."""

    module: str
    seconds: float
    on: Mapping[str, tuple[int, ...]]
    private: tuple[str, ...] = ()


SOAKS = {
    "llm_chaos": Soak("llm.chaos", 600.0, {"sqlite": (), "postgresql": ()}, ("postgresql",)),
    "desk_chaos": Soak("desk.chaos", 1800.0, {"sqlite": (), "postgresql": ()}),
    "judging_load": Soak("desk.judging_load", 600.0, {"sqlite": (8,), "postgresql": (50, 200)}),
    "judging_faults": Soak(
        "desk.judging_faults", 600.0, {"sqlite": (8,), "postgresql": (50,)}, ("sqlite", "postgresql")
    ),
    "season": Soak("season.whole", 900.0, {"postgresql": (40,)}, ("postgresql",)),
}


def main() -> int:
    """Run what was named, or all; in a child process, one test on the database of the environment."""
    if sys.argv[1:2] == ["child"]:
        return _child(sys.argv[2], sys.argv[3], Path(sys.argv[4]), json.loads(sys.argv[5]))
    parser = argparse.ArgumentParser(prog="python -m loadtest.soak", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="ON", help=f"of {', '.join(SURROUNDINGS)}; all without one")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the logs here")
    parser.add_argument("--only", choices=SOAKS, help="of the tests, this one")
    lengths = ", ".join(f"{test} {soak.seconds:g}" for test, soak in SOAKS.items())
    parser.add_argument("--seconds", type=float, help=f"how long a test works; default: {lengths}")
    parser.add_argument(
        "--assessors", type=int, help="how many judge; default: 8 on SQLite, 50 and 200 on PostgreSQL"
    )
    parser.add_argument("--every", type=float, default=2.0, help="seconds from one label to the next; default: 2")
    parser.add_argument(
        "--spoil", action="store_true", help="let a test of desks lose something, to see that it is found"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - SURROUNDINGS.keys():
        parser.error(f"nothing is named {', '.join(sorted(unknown))}")
    failed = [
        f"{test} on {name}"
        for name in options.names or SURROUNDINGS
        for test in SOAKS
        if options.only in (None, test) and name in SOAKS[test].on
        for arguments in _runs(test, name, options)
        if not _passes(test, arguments, name, options.keep)
    ]
    if failed:
        print(f"\nFAILED: {', '.join(failed)}")
    return 1 if failed else 0


def _runs(test: str, name: str, options: argparse.Namespace) -> list[Arguments]:
    arguments = {"seconds": options.seconds or SOAKS[test].seconds, "spoil": options.spoil}
    sizes = SOAKS[test].on[name]
    if not sizes:
        return [arguments]
    if options.assessors:
        sizes = (options.assessors,)
    return [arguments | {"assessors": size, "every": options.every} for size in sizes]


def _passes(test: str, arguments: Arguments, name: str, keep: Path | None) -> bool:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-soak-")))
        found = {} if name in SOAKS[test].private else stack.enter_context(SURROUNDINGS[name](folder))
        if isinstance(found, str):
            return _skipped(test, name, found) == 0
        print(f"{test} on {name}", flush=True)
        logs = (keep or folder) / name
        logs.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "loadtest.soak", "child", test, name, str(logs), json.dumps(arguments)]
        return subprocess.call(command, env=os.environ | found) == 0


def _child(test: str, name: str, logs: Path, arguments: Arguments) -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    with ExitStack() as stack:
        if name in SOAKS[test].private:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-soak-")))
            services = stack.enter_context(private_services(name, folder))
            if isinstance(services, str):
                return _skipped(test, name, services)
            os.environ |= {"DATABASE_URL": services.database_url, "CELERY_BROKER_URL": services.broker_url}
            arguments = arguments | {"services": services}
        django.setup()
        run: Callable[..., int] = importlib.import_module(f"loadtest.{SOAKS[test].module}").run
        return run(logs, **arguments)


def _skipped(test: str, name: str, why: str) -> int:
    print(f"{test} on {name}: skipped, {why}")
    return 1 if os.environ.get("CI") == "true" else 0


@contextmanager
def _embedded(folder: Path) -> Iterator[Environment | str]:
    yield {"DATABASE_URL": f"sqlite:///{folder / 'assay.sqlite3'}", "CELERY_BROKER_URL": "memory://"}


@contextmanager
def _services(_folder: Path) -> Iterator[Environment | str]:
    """A scratch database on PostgreSQL, or why there is none."""
    try:
        server = psycopg.connect(POSTGRESQL, connect_timeout=3, autocommit=True)
    except psycopg.OperationalError:
        yield f"PostgreSQL does not answer at {urlsplit(POSTGRESQL).hostname}"
        return
    name = f"assay_soak_{uuid.uuid4().hex[:8]}"
    with server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            address = urlunsplit(urlsplit(POSTGRESQL)._replace(path=f"/{name}"))
            yield {"DATABASE_URL": address, "CELERY_BROKER_URL": "memory://"}
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


SURROUNDINGS: dict[str, Callable[[Path], AbstractContextManager[Environment | str]]] = {
    "sqlite": _embedded,
    "postgresql": _services,
}

if __name__ == "__main__":
    sys.exit(main())
