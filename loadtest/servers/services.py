"""Services of one's own, which can be stopped, started and filled: PostgreSQL, Redis, a small disk. No Django here."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
LONGEST_STOP = 90.0  # seconds
DISK_MB = 96
CHUNKS = (1 << 20, 1 << 12, 1)
"""How a disk is filled: in large pieces, then in ever smaller ones, up to the last byte."""


def free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


class Program:
    """A process of one's own, which a subclass starts."""

    _process: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """Ask it to end, as an administrator does, and wait until it has."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=LONGEST_STOP)
            self._process = None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Redis(Program):
    def __init__(self, folder: Path, password: str = "") -> None:
        self._folder, self._port, self._password = folder, free_port(), password

    @property
    def url(self) -> str:
        password = self._password and f":{self._password}@"
        return f"redis://{password}{HOST}:{self._port}/0"

    def start(self) -> None:
        command = [
            "redis-server",
            "--port",
            str(self._port),
            "--bind",
            HOST,
            "--save",
            "",
            "--dir",
            str(self._folder),
            *(["--requirepass", self._password] if self._password else []),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)


class Cluster:
    """A PostgreSQL cluster in a folder and on a port of its own, run by the user postgres where we are root."""

    def __init__(self, programs: Path) -> None:
        self._programs, self._port = programs, free_port()
        self._as = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self._folder = Path(tempfile.mkdtemp(prefix="assay-cluster-"))
        if self._as:
            shutil.chown(self._folder, "postgres")

    @staticmethod
    def programs() -> Path | None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        there = found[-1] if found else shutil.which("initdb")
        return Path(there).parent if there else None

    @property
    def url(self) -> str:
        return f"postgres://postgres@{HOST}:{self._port}/postgres"

    def make(self) -> None:
        self._run("initdb", "--auth", "trust", "--username", "postgres", "--encoding", "UTF8", "--locale", "C")

    def start(self) -> None:
        options = f"-p {self._port} -k {self._folder} -c listen_addresses={HOST}"
        self._run(
            "pg_ctl", "--wait", "--timeout", "120", "--log", str(self._folder / "log"), "-o", options, "start"
        )

    def stop(self) -> None:
        """Stop it at once, as a power cut does: what is under way is gone, and the next start recovers."""
        self._run("pg_ctl", "--wait", "--mode", "immediate", "stop")

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as, str(self._programs / program), "--pgdata", str(self._folder / "data"), *arguments]
        subprocess.run(command, check=True, cwd=self._folder, stdout=subprocess.DEVNULL)


class SmallDisk:
    """A file system of some megabytes, which can be filled to the last byte. Only root can mount one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def mount(self) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(self.folder)]
        with suppress(OSError):
            return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0
        return False

    def fill(self) -> None:
        with self._ballast.open("ab", buffering=0) as ballast:
            for size in CHUNKS:
                with suppress(OSError):
                    while True:
                        ballast.write(b"\0" * size)

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)

    def unmount(self) -> None:
        """Take it away, also while something is open on it."""
        subprocess.run(["umount", "--lazy", str(self.folder)], check=False)


@dataclass(frozen=True, slots=True)
class Services:
    """What a soak of faults runs on. `left_out`: what cannot be tried here, and why."""

    database_url: str
    broker_url: str
    cluster: Cluster | None = None
    redis: Redis | None = None
    disk: SmallDisk | None = None
    left_out: tuple[str, ...] = ()


@contextmanager
def private_services(engine: str, folder: Path) -> Iterator[Services | str]:
    with ExitStack() as stack:
        if engine == "sqlite":
            yield _on_a_disk(stack, folder)
        elif (programs := Cluster.programs()) is None:
            yield "there is no initdb in /usr/lib/postgresql/*/bin or on the path"
        elif os.geteuid() == 0 and not shutil.which("runuser"):
            yield "PostgreSQL does not run as root, and there is no runuser"
        else:
            yield _with_servers(stack, folder, programs)


def _on_a_disk(stack: ExitStack, folder: Path) -> Services:
    disk = SmallDisk(folder / "disk")
    disk.folder.mkdir()
    url = f"sqlite:///{disk.folder / 'assay.sqlite3'}"
    if not disk.mount():
        return Services(url, "memory://", left_out=("disk full: no file system can be mounted here",))
    stack.callback(disk.unmount)
    return Services(url, "memory://", disk=disk)


def _with_servers(stack: ExitStack, folder: Path, programs: Path) -> Services:
    cluster = Cluster(programs)
    stack.callback(cluster.remove)
    cluster.make()
    cluster.start()
    if not shutil.which("redis-server"):
        left_out = ("Redis restarted: there is no redis-server",)
        return Services(cluster.url, "memory://", cluster=cluster, left_out=left_out)
    redis = Redis(folder)
    redis.start()
    stack.callback(redis.stop)
    return Services(cluster.url, redis.url, cluster=cluster, redis=redis)
