"""Run a suite of the Makefile: linters, tests on PostgreSQL and tests on SQLite, side by side.

Marks (pyproject.toml) decide which tests these are. Tests wait a lot, for browsers and processes, and the linters use
one core: side by side they take half the time. Outputs come one after the other, and a line for each part comes last.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests import needed

LATER = "(browser or slow) and not walk"
"""What `make test` leaves to `make test-all`, which therefore runs no test twice on SQLite."""

COLLECT = (sys.executable, "-m", "pytest", "--collect-only", "--quiet", "--quiet", "-m", "")

LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class Part:
    """A command, and the reason why it cannot run here."""

    name: str
    command: Sequence[str] = ()
    database: str = ""
    missing: str = ""


def lint() -> Part:
    return Part("Linters", ("make", "--no-print-directory", "lint"))


def on_sqlite(marks: str) -> Part:
    """Return the tests with these marks, on SQLite or on the database that DATABASE_URL names."""
    return Part("Tests on SQLite", _pytest("3", marks))


def on_postgresql(marks: str) -> Part:
    name = "Tests on PostgreSQL"
    try:
        psycopg.connect(needed.POSTGRESQL, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        return Part(
            name, missing=needed.how_to_get("PostgreSQL", f"at {needed.POSTGRESQL} ({_first_line(error)})")
        )
    return Part(name, (*_pytest("2", marks), "-q"), needed.POSTGRESQL)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _pytest(processes: str, marks: str) -> Sequence[str]:
    return (sys.executable, "-m", "pytest", "-n", processes, "--dist", "worksteal", "-m", marks)


SUITES = {
    "test": lambda: [lint(), on_postgresql("postgresql and not slow"), on_sqlite(f"not ({LATER})")],
    "rest": lambda: [on_postgresql("postgresql and slow"), on_sqlite(LATER)],
    "postgresql": lambda: [on_postgresql("postgresql")],
    "every-postgresql": lambda: [on_postgresql("")],
}


def main(suite: str) -> int:
    """Return 0 if every part passed, else the first exit code that is not 0."""
    parts = SUITES[suite]()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / str(number) for number in range(len(parts))]
        running = list(_start_all(parts, logs))
        codes = [_follow(process, log) for process, log in zip(running, logs, strict=True)]
        lines = [_summary(*found) for found in zip(parts, codes, logs, strict=True)]
    print(f"\n{suite}: {(time.monotonic() - began) / 60:.1f} minutes", *lines, sep="\n")
    return next((code for code in codes if code), 0)


def _start_all(parts: Sequence[Part], logs: Sequence[Path]) -> Iterator[subprocess.Popen[bytes] | int]:
    """Start linters at once, and tests when what pytest makes of their code is on the disk.

    Otherwise each of five processes makes it for itself, which takes as long as all that `make lint` does.
    """
    collected = False
    for part, log in zip(parts, logs, strict=True):
        if "pytest" in part.command and not collected:
            subprocess.run(COLLECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            collected = True
        yield _start(part, log)


def _start(part: Part, log: Path) -> subprocess.Popen[bytes] | int:
    """Start a part; without what it needs return its exit code, which fails CI alone."""
    with log.open("wb") as out:
        if part.missing:
            return 1 if needed.is_ci() else 0
        own = os.environ | ({"DATABASE_URL": part.database} if part.database else {})
        return subprocess.Popen(part.command, stdout=out, stderr=subprocess.STDOUT, env=own)


def _follow(process: subprocess.Popen[bytes] | int, log: Path) -> int:
    """Print the output of a process until it ends; return its exit code."""
    if isinstance(process, int):
        return process
    with log.open("rb") as output:
        ended = False
        while not ended:
            ended = (
                process.poll() is not None
            )  # before the last look, so that nothing written in between is missed
            sys.stdout.buffer.write(output.read())
            sys.stdout.flush()
            if not ended:
                time.sleep(LOOK_S)
    return process.wait()


def _summary(part: Part, code: int, log: Path) -> str:
    if part.missing:
        return f"{part.name}: {'failed' if code else 'skipped'}, {part.missing}"
    last = log.read_text("utf-8", "replace").strip().rpartition("\n")[2].strip("= ")
    return f"{part.name}: {f'failed with exit code {code}' if code else 'passed'} ({last})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
