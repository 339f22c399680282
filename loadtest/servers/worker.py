"""A Celery worker of one's own, which can be killed and started again."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from loadtest.servers.services import Program

CONCURRENCY = 3


class WorkerProcess(Program):
    """`celery -A config worker`, as `make run` starts it, with its log in a file."""

    def __init__(self, log: Path, own: Mapping[str, str]) -> None:
        self._log, self._own = log, own

    def start(self) -> None:
        """Start it; it is ready some seconds later."""
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--pool", "threads"]
        command += ["--concurrency", str(CONCURRENCY), "--loglevel", "WARNING"]
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(
                command, env={**os.environ, **self._own}, cwd=settings.BASE_DIR, stdout=out, stderr=out
            )

    def cpu_seconds(self) -> float:
        """Return the CPU time that it has used so far, of user and system. Linux only."""
        fields = self._read("stat").rpartition(")")[2].split()
        return sum(int(ticks) for ticks in fields[11:13]) / os.sysconf("SC_CLK_TCK")

    def peak_mb(self) -> float:
        """Return the most memory that it has held so far, in MB. Linux only."""
        found = next(line for line in self._read("status").splitlines() if line.startswith("VmHWM:"))
        return int(found.split()[1]) / 1024

    def _read(self, name: str) -> str:
        if self._process is None:
            raise RuntimeError("the worker is not running")
        return Path(f"/proc/{self._process.pid}/{name}").read_text()


@contextmanager
def running_worker(log: Path, own: Mapping[str, str]) -> Iterator[WorkerProcess]:
    """Run a worker; SIGKILL at the end of the block at the latest. `own`: its environment beside this process's."""
    worker = WorkerProcess(log, own)
    worker.start()
    try:
        yield worker
    finally:
        worker.kill()
