"""Run the checks, the tests on PostgreSQL and those on SQLite at the same time, and print them one after the other.

Tests wait a lot, for browsers and processes, and the checks use one core only: side by side they take half the time.
What is printed last is pytest's summary of the tests on SQLite.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

PYTHON = sys.executable
CHOSEN = ("-m", "not thorough") if os.environ.get("CI") == "true" else ()
"""CI has a quarter of an hour; `make test` by hand leaves nothing out."""

COMMANDS: tuple[Sequence[str], ...] = (
    ("make", "--no-print-directory", "lint"),
    (PYTHON, "-m", "tests.on_postgresql"),
    (PYTHON, "-m", "pytest", "-n", "3", "--dist", "worksteal", *CHOSEN),
)
LOOK_S = 0.2


def main() -> int:
    """Return 0 if everything passed, else the first exit code that is not 0."""
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / str(number) for number in range(len(COMMANDS))]
        running = [_start(command, log) for command, log in zip(COMMANDS, logs, strict=True)]
        codes = [_follow(process, log) for process, log in zip(running, logs, strict=True)]
    return next((code for code in codes if code), 0)


def _start(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as out:
        return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)


def _follow(process: subprocess.Popen[bytes], log: Path) -> int:
    """Print what a process has said and goes on to say, until it ends; return its exit code."""
    with log.open("rb") as said:
        ended = False
        while not ended:
            ended = process.poll() is not None  # before the last look, so that nothing said in between is missed
            sys.stdout.buffer.write(said.read())
            sys.stdout.flush()
            if not ended:
                time.sleep(LOOK_S)
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
