"""Try docker-compose.yml: build the image, bring everything up, work with it, and take it down again.

`python3 deploy/try_compose.py` needs Python, openssl, and a Docker engine with `docker compose` or `docker-compose`.
It works in a copy of this checkout, under names and ports of its own, and prints each step with its seconds. It exits
with 2 where it cannot begin. See docs/operations.md.
"""

import argparse
import http.client
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from try_people import CAMPAIGN, Client, Desk, Failed, Load

ROOT = Path(__file__).resolve().parents[1]
NAME = "assay-try"
PRIVATE = (".git", ".venv", ".env", "var", "secrets", "certificate", "__pycache__", ".hypothesis", ".*_cache")
"""Files that a fresh clone does not have."""

LONGEST = 300.0  # seconds until everything is up, or a job is done
COUNT_WORKERS = """
import json, pathlib, urllib.request
token = pathlib.Path("/run/secrets/metrics_token").read_text()
headers = {"Host": "localhost", "Authorization": f"Bearer {token}"}
request = urllib.request.Request("http://127.0.0.1:8000/readyz", headers=headers)
print(json.load(urllib.request.urlopen(request))["checks"]["queue"]["workers"])
"""
"""Run in a web container: /readyz has the details for whoever has the token, and the proxy does not pass it on."""


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print a step and its seconds."""
    began = time.monotonic()
    yield
    say(f"{time.monotonic() - began:7.1f} s  {name}")


def wait_until(done: Callable[[], bool], what: str) -> None:
    """Look again and again. Raises `Failed` when it takes too long."""
    end = time.monotonic() + LONGEST
    while not done():
        if time.monotonic() > end:
            raise Failed(f"after {LONGEST:.0f} s still not: {what}")
        time.sleep(0.5)


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Stack:
    """The services of docker-compose.yml, from a copy of the checkout with secrets and a certificate of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder / "assay", free_port()
        shutil.copytree(ROOT, self.folder, ignore=shutil.ignore_patterns(*PRIVATE))
        self._program = compose_program()
        if self._program == ["docker-compose"]:  # version 1 knows no `name`, and `--project-name` gives it anyway
            file = self.folder / "docker-compose.yml"
            file.write_text(re.sub(r"^name: .*\n", "", file.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
        self._environment = os.environ | {
            "ASSAY_IMAGE": NAME,
            "ALLOWED_HOSTS": "localhost",
            "CSRF_TRUSTED_ORIGINS": f"https://localhost:{self.port}",
            "HTTP_PORT": str(free_port()),
            "HTTPS_PORT": str(self.port),
            "AUDIT_DIR": str(folder / "audit"),
            "BACKUP_DIR": str(folder / "backups"),
        }

    def compose(self, *words: str) -> str:
        """Run a command of compose and return what it prints. Raises `Failed`."""
        files = ["--file", "docker-compose.yml", "--file", "deploy/compose.try.yml"]
        return run([*self._program, "--project-name", NAME, *files, *words], self.folder, self._environment)

    def inside(self, service: str, *words: str) -> str:
        """Run a command in a running container. `compose exec` of version 1 knows only the first that was made."""
        container = self.containers(service)[0]
        return run(["docker", "exec", "--env", "DEMO=1", container, *words], self.folder, self._environment)

    def containers(self, service: str) -> list[str]:
        """Return the ids of a service's containers."""
        return self.compose("ps", "--quiet", service).split()

    def up(self) -> None:
        """Start what does not run, and wait until the proxy leads to a web process and two workers are alive."""
        self.compose("up", "--detach", "--no-build")
        wait_until(self._answers, "the proxy leads to a web process")
        wait_until(lambda: self.workers() == 2, "two workers are alive")

    def workers(self) -> int:
        """Return how many workers a web process knows to be alive."""
        try:
            return int(self.inside("web", "python", "-c", COUNT_WORKERS))
        except (Failed, ValueError):
            return -1

    def replace(self, service: str) -> None:
        """Stop and remove the first container of a service, and have compose start another in its place."""
        first, *others = self.containers(service)
        run(["docker", "stop", "--time", "60", first], self.folder, self._environment)
        run(["docker", "rm", first], self.folder, self._environment)
        self.compose("up", "--detach", "--no-build", "--no-deps", "--no-recreate", service)
        now = self.containers(service)
        if first in now or len(now) != len(others) + 1:
            raise Failed(f"{service}: {first} was not replaced")

    def client(self) -> Client:
        """Return a browser without cookies."""
        return Client(self.port, str(self.folder / "deploy" / "certificate" / "fullchain.pem"))

    def _answers(self) -> bool:
        try:
            return self.client().ask("GET", "/healthz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def write_secrets(self) -> None:
        """Write the files, and make the folders, that docs/operations.md names."""
        settings = "OPENAI_BASE_URL=http://llm:8001/v1\nOPENAI_MODEL=word-overlap-simulator\n"
        (self.folder / ".env").write_text(settings, "utf-8")
        for name in ("AUDIT_DIR", "BACKUP_DIR"):
            Path(self._environment[name]).mkdir()
            Path(self._environment[name]).chmod(0o777)  # for user 10001; nobody else enters the folder above
        database, redis = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        texts = {
            "database_password": database,
            "database_url": f"postgres://assay:{database}@database:5432/assay",
            "redis_password": redis,
            "broker_url": f"redis://:{redis}@redis:6379/0",
            "secret_key": secrets.token_urlsafe(48),
            "metrics_token": secrets.token_urlsafe(32),
            "openai_api_key": "any",
        }
        folder = self.folder / "deploy" / "secrets"
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text, "utf-8")
            (folder / name).chmod(0o644)  # for user 10001; nobody else of this host enters the folder above

    def write_certificate(self) -> None:
        """Have openssl make a certificate for localhost."""
        folder = self.folder / "deploy" / "certificate"
        folder.mkdir()
        words = (
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
        )
        run(["openssl", *words.split(), "-keyout", "privkey.pem", "-out", "fullchain.pem"], folder, os.environ)

    def remove(self) -> None:
        """Take everything down: containers, volumes and network."""
        self.compose("--profile", "backup", "down", "--volumes", "--remove-orphans", "--timeout", "10")


def compose_program() -> list[str]:
    """Return the command of compose: the engine's own, else version 1."""
    return ["docker-compose"] if docker("compose", "version") else ["docker", "compose"]


def run(command: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command and return what it prints. Raises `Failed`."""
    done = subprocess.run(command, cwd=folder, env=environment, text=True, check=False, capture_output=True)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.stdout[-1500:]}{done.stderr[-3000:]}")
    return done.stdout


def obstacle() -> str:
    """Return why this cannot begin, "" where it can: the engine, openssl, or a base image is missing."""
    for name, package in (("docker", "docker.io docker-compose"), ("openssl", "openssl")):
        if not shutil.which(name):
            return f"{name} was not found; on Debian: apt-get install {package}"
    if docker("info"):
        return "no Docker engine answers; on Debian: apt-get install docker.io docker-compose"
    if docker("compose", "version") and not shutil.which("docker-compose"):
        return "neither `docker compose` nor `docker-compose` was found; on Debian: apt-get install docker-compose"
    texts = [(ROOT / name).read_text("utf-8") for name in ("Dockerfile", "docker-compose.yml")]
    for image in sorted(set(re.findall(r"(?:FROM|image:) (\w+:\S+)", "\n".join(texts)))):
        if docker("image", "inspect", image) and docker("pull", "--quiet", image):
            return f"{image} cannot be pulled; python3 deploy/stand_ins.py makes a stand-in of Debian's packages"
    return ""


def docker(*words: str) -> int:
    """Run a command of the engine and return its exit code."""
    return subprocess.run(["docker", *words], check=False, capture_output=True).returncode


def jobs_done(olga: Client) -> bool:
    """Check whether every LLM job of the demo is done, but for the one that is loaded paused."""
    rows = json.loads(olga.page(f"/api/v1/jobs/?campaign={CAMPAIGN}"))["results"]
    if any(row["state"] in ("failed", "cancelled") for row in rows):
        raise Failed(f"a job went wrong: {rows}")
    return bool(rows) and [row["state"] for row in rows if row["state"] != "done"] == ["paused"]


def start(stack: Stack, *, build: bool) -> None:
    """Bring everything up, with the demo in it."""
    stack.write_secrets()
    stack.write_certificate()
    if build:
        with step("the image is built"):
            stack.compose("build", "migrate")
    with step("PostgreSQL is migrated; two web and two worker containers run behind TLS"):
        stack.up()
    with step("the demo is loaded"):
        stack.inside("web", "assay", "manage", "load_demo")


def work(stack: Stack) -> None:
    """Have a job done, save at a desk, take a backup, replace containers under load, and restore the backup."""
    olga, desk = stack.client().sign_in("olga"), Desk(stack.client().sign_in("ann"))
    with step("a desk has saved a nugget and shows it"):
        desk.add("Saved before the backup.")
        check(desk.shows("Saved before the backup."), "the desk shows what it saved")
    with step("web containers read what a worker has written for download"):
        write = "import pathlib; pathlib.Path('/srv/assay/files/tried').write_text('by a worker')"
        stack.inside("worker", "python", "-c", write)
        check("by a worker" in stack.inside("web", "cat", "/srv/assay/files/tried"), "the folder is shared")
    with step("the LLM jobs are done by the workers"):
        wait_until(lambda: jobs_done(olga), "the jobs are done")
    with step("a backup is taken"):
        printed = stack.compose("--profile", "backup", "run", "--rm", "-T", "backup")
        [backup] = re.findall(r"/srv/assay/backups/\S+\.tar", printed)
    replace_under_load(stack, desk, olga)
    with step("the backup is restored"):
        stack.compose("stop", "proxy", "web", "worker")
        restore = ("manage", "restore", backup, "--replace")
        stack.compose("--profile", "backup", "run", "--rm", "-T", "backup", *restore)
        stack.up()
    desk = Desk(stack.client().sign_in("ann"))
    check(desk.shows("Saved before the backup."), "the restored desk shows what was saved before")
    check(not desk.shows("Under load 0."), "the restored desk does not show what was saved later")


def replace_under_load(stack: Stack, desk: Desk, olga: Client) -> None:
    """Replace a worker while a job runs, and a web container, while people save and read."""
    reader = stack.client().sign_in("olga")
    with Load(desk, reader) as load:
        time.sleep(2)
        with step("a web container is replaced under load"):
            stack.replace("web")
            wait_until(lambda: len(healthy(stack)) == 2, "both web containers are healthy")
        with step("a worker is replaced while it has a job to do"):
            judge = ("judge_relevance", "--campaign", CAMPAIGN, "--source", "TRY")
            stack.inside("web", "assay", "manage", *judge)
            stack.replace("worker")
            wait_until(lambda: jobs_done(olga), "the job is done")
            wait_until(lambda: stack.workers() == 2, "two workers are alive")
        time.sleep(2)
    say(f"           under load: {len(load.saved)} saves and {load.read} pages, {len(load.failed)} failed")
    check(not load.failed, f"no request failed: {load.failed[:5]}")
    check(desk.shows(load.saved[0]) and desk.shows(load.saved[-1]), "the desk shows what it saved under load")


def healthy(stack: Stack) -> list[str]:
    """Return the web containers whose health check says so."""
    shown = run(["docker", "inspect", *stack.containers("web")], stack.folder, os.environ)
    return [
        container["Id"] for container in json.loads(shown) if container["State"]["Health"]["Status"] == "healthy"
    ]


def check(holds: bool, what: str) -> None:
    """Raise `Failed` unless it holds."""
    if not holds:
        raise Failed(f"not so: {what}")


def main() -> int:
    """Return 0 if every step did what it should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image-is-built", action="store_true", help=f"take the image {NAME} that is there")
    options = parser.parse_args()
    if reason := obstacle():
        say(reason)
        return 2
    with tempfile.TemporaryDirectory(prefix="assay-compose-") as folder:
        stack = Stack(Path(folder))
        try:
            start(stack, build=not options.image_is_built)
            work(stack)
        except (Failed, OSError, http.client.HTTPException) as failed:
            say(f"failed: {failed}\n{stack.compose('logs', '--tail', '30')}")
            return 1
        finally:
            with step("everything is taken down"):
                stack.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
