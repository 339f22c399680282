"""The web process, as `make run` starts it, on a port of its own; it can be killed and comes back at its address."""

import fcntl
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.management import call_command

from loadtest.servers.services import HOST, Program, free_port

LONGEST_START = 90.0  # seconds
TOLD = 2000  # characters of a log


class WebProcess(Program):
    def __init__(self, log: Path, application: str = "config.wsgi", own: Mapping[str, str] | None = None) -> None:
        self._port = free_port()
        self._log, self._application, self._own = log, application, own or {}
        self.address = f"{HOST}:{self._port}"

    def start(self) -> None:
        own = os.environ | {"HOST": HOST, "PORT": str(self._port), **self._own}
        command = [sys.executable, "-m", "gunicorn", self._application]
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(
                command, env=own, cwd=settings.BASE_DIR, stdout=out, stderr=out, start_new_session=True
            )
        end = time.monotonic() + LONGEST_START
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                tail = self._log.read_text(encoding="utf-8", errors="replace")[-TOLD:]
                raise SystemExit(f"the web process does not answer; its log {self._log} ends with\n{tail}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(self.address, timeout=10)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def cpu_seconds(self) -> float:
        """Return the processor time that the processes of the group took so far; Linux only, elsewhere 0."""
        ticks = sum(int(fields[11]) + int(fields[12]) for _, fields in self._group())
        return ticks / os.sysconf("SC_CLK_TCK")

    def workers(self) -> list[int]:
        """Return the process ids of gunicorn's workers; Linux only, elsewhere none."""
        return [pid for pid, _ in self._group() if self._process and pid != self._process.pid]

    def _group(self) -> Iterator[tuple[int, list[str]]]:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            if self._process and int(fields[2]) == self._process.pid:
                yield int(stat.parent.name), fields

    def kill(self) -> None:
        """SIGKILL the whole group: nothing under way gets to its end."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@cache
def collect_static() -> None:
    """Make the static files, without which no page is answered: not even that of a refused form."""
    with (settings.VAR_DIR / "static.lock").open("w") as lock:
        # Tests run side by side, and a server that starts would miss a file that is being written again.
        fcntl.flock(lock, fcntl.LOCK_EX)
        manifest = settings.STATIC_ROOT / "staticfiles.json"
        newest = max(file.stat().st_mtime for file in (settings.BASE_DIR / "static").rglob("*"))
        if not manifest.exists() or manifest.stat().st_mtime < newest:
            call_command("collectstatic", interactive=False, verbosity=0)


@contextmanager
def running_web(
    log: Path, application: str = "config.wsgi", own: Mapping[str, str] | None = None
) -> Iterator[WebProcess]:
    """Run a web process while the block runs. `own`: its environment beside this process's."""
    collect_static()
    web = WebProcess(log, application, own)
    try:
        web.start()
        yield web
    finally:
        web.kill()


@contextmanager
def served(package: str = "config") -> Iterator[str]:
    # The server's own configuration reads the settings before it imports the application.
    own = {"DJANGO_SETTINGS_MODULE": f"{package}.settings"}
    with TemporaryDirectory() as folder, running_web(Path(folder) / "web.log", f"{package}.wsgi", own) as web:
        yield f"http://{web.address}"
