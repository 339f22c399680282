"""The wheel as a newcomer has it: built, installed beside nothing of ours, started, worked with, and stopped.

A build needs hatchling, which requirements-dev.txt pins (`make .venv/installed-dev` gets it); an installation needs a
package index that answers, and Pythons are those of this machine.
"""

import fcntl
import http.client
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import termios
import time
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from django.conf import settings

from exchange.demo_campaign import PASSWORD
from loadtest.servers.services import free_port

pytestmark = pytest.mark.slow
LONGEST = 300.0  # seconds
newest = pytest.mark.parametrize("folder", [13], indirect=True, ids="3.{}".format)
OTHERS = ("api", "web", "jobs", "config")
"""Packages of other people with names of our rooms: none of ours takes them, and they are not ours to hide."""


def python(minor: int) -> str:
    """Path of a Python 3.`minor` of this machine."""
    places: list[str | Path | None] = [
        sys.executable,
        shutil.which(f"python3.{minor}"),
        *Path("~/.pyenv/versions").expanduser().glob(f"3.{minor}.*/bin/python"),
    ]
    for place in map(str, filter(None, places)):
        done = subprocess.run(
            [place, "-c", "import sys; print(sys.version_info[1])"], capture_output=True, check=False
        )
        if done.stdout.decode().strip() == str(minor):
            return place
    pytest.skip(f"Python 3.{minor} was not found")


def run(*words: str | Path, **own: str) -> str:
    done = subprocess.run(words, env=os.environ | own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not importlib.util.find_spec("hatchling"):
        pytest.skip("hatchling was not found; make .venv/installed-dev installs it")
    folder = tmp_path_factory.mktemp("dist")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    run(*pip, "--wheel-dir", folder, settings.BASE_DIR)
    [path] = folder.iterdir()
    return path


def test_it_holds_the_server_alone(wheel: Path) -> None:
    folders = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert folders == {"assay_workbench", "assay_workbench-0.1.0.dist-info"}


@pytest.fixture(scope="module", params=[11, 12, 13], ids="3.{}".format)
def folder(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp(f"python3{request.param}")
    run(python(request.param), "-m", "venv", place)
    pip = (place / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-deps")
    try:
        run(*pip, "--require-hashes", "-r", settings.BASE_DIR / "requirements.txt")
    except AssertionError as error:
        if "NewConnectionError" not in str(error):
            raise
        pytest.skip("no package index answers")
    run(*pip, wheel)
    run(place / "bin" / "python", "-m", "pip", "check")  # what the wheel says it needs is there
    [packages] = place.glob("lib/python3*/site-packages")
    for name in OTHERS:
        for parent in (packages, place / "here"):
            (parent / name).mkdir(parents=True)
            (parent / name / "__init__.py").write_text(f"raise RuntimeError('another {name}')")
    return place


class Browser:
    def __init__(self, port: int, program: subprocess.Popen[bytes]) -> None:
        self.program = program
        self.address, self._jar = f"http://127.0.0.1:{port}", CookieJar()
        self._open = build_opener(HTTPCookieProcessor(self._jar)).open

    def ask(self, path: str, body: str = "", kind: str = "application/x-www-form-urlencoded") -> str:
        token = next((cookie.value for cookie in self._jar if cookie.name == "csrftoken"), "")
        headers = {"X-CSRFToken": token or "", "Content-Type": kind}
        request = Request(f"{self.address}{path}", body.encode() or None, headers)  # noqa: S310
        with self._open(request, timeout=60) as answer:
            return str(answer.read().decode())

    def send(self, path: str, **body: Any) -> Any:
        return json.loads(self.ask(path, json.dumps(body), "application/json"))

    def sign_in(self, name: str, password: str) -> str:
        self.ask("/accounts/login/")
        return self.ask("/accounts/login/", urlencode({"login": name, "password": password}))


@contextmanager
def started(folder: Path, *words: str, terminal: int | None = None, home: Path) -> Iterator[Browser]:
    """Run `assay` while the block runs, then press Ctrl-C; nothing that it started is left."""
    port = free_port()
    own = os.environ | {"ASSAY_HOME": str(home), "SIMULATOR_PORT": str(free_port())}
    command = [str(folder / "bin" / "assay"), *words, "--port", str(port)]
    log = home.with_suffix(".log")
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=folder / "here",
            env=own,
            stdin=subprocess.DEVNULL if terminal is None else terminal,
            stdout=out if terminal is None else terminal,
            stderr=out if terminal is None else terminal,
            start_new_session=True,
            preexec_fn=None if terminal is None else lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
    try:
        yield Browser(port, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LONGEST) == 0, log.read_text()
        assert processes_of(home) == []
    finally:
        process.kill()  # by itself: /proc shows no environment of a program that has only just begun
        for left in processes_of(home):
            os.kill(left, signal.SIGKILL)
        process.wait()


def processes_of(home: Path) -> list[int]:
    """Processes with this ASSAY_HOME. Linux only: elsewhere none is found."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"ASSAY_HOME={home}".encode() in environ.read_bytes().split(b"\0"):
                found.append(int(environ.parent.name))
        except OSError:
            continue  # it ended meanwhile, or is somebody else's
    return found


def wait_for(browser: Browser, home: Path) -> None:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            browser.ask("/healthz")
        except HTTPError:
            raise
        except (OSError, http.client.HTTPException):
            assert browser.program.poll() is None, home.with_suffix(".log").read_text()
            time.sleep(0.5)
        else:
            return
    pytest.fail(home.with_suffix(".log").read_text())


def state_of(page: str) -> Any:
    script = re.search(r'<script id="desk-state" type="application/json">(.*?)</script>', page, re.DOTALL)
    return json.loads(script[1]) if script else None


def judging_desk(browser: Browser) -> tuple[str, str]:
    for address in dict.fromkeys(re.findall(r'href="(/desk/[^/"]+/)"', browser.ask("/desk/"))):
        state = state_of(browser.ask(address))
        if state and state.get("nuggets") and not state["readonly"]:
            return address, f"{state['answers'][0]['id']}/{state['nuggets'][0]['key']}"
    pytest.fail("the demo has no desk for labels")


def save_a_label(browser: Browser) -> None:
    """Label a nugget in an answer, and find the label on the desk that is opened anew."""
    address, key = judging_desk(browser)
    row = next(
        (row for row in state_of(browser.ask(address))["rows"] if row["key"] == key), {"version": 0, "label": ""}
    )
    label = "not_support" if row["label"] == "support" else "support"
    window = str(uuid.uuid4())
    browser.send(f"{address}hold/", window=window, want="take")
    operation = {
        "op_id": str(uuid.uuid4()),
        "step": str(uuid.uuid4()),
        "kind": "label",
        "payload": {"key": key, "label": label},
        "base": {key: row["version"]},
        "client_at": datetime.now(UTC).isoformat(),
    }
    answer = browser.send(f"{address}ops/", window=window, ops=[operation])
    assert [receipt["status"] for receipt in answer["receipts"]] == ["applied"], answer
    saved = {row["key"]: row["label"] for row in state_of(browser.ask(address))["rows"]}
    assert saved[key] == label


def test_the_demo_is_served_a_label_saved_and_nothing_left(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    before = tree_of(folder)
    with started(folder, "demo", home=home) as browser:
        wait_for(browser, home)
        browser.sign_in("cleo", PASSWORD)
        style = re.search(r'href="(/static/css/[\w.-]+\.[0-9a-f]{12}\.css)"', browser.ask("/desk/"))
        assert style
        assert browser.ask(style[1])
        save_a_label(browser)
    assert "olga" in home.with_suffix(".log").read_text()
    assert tree_of(folder) == before  # all that is written lies in the data folder
    assert (home / "assay.sqlite3").exists()


def tree_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}


@newest
def test_its_words_say_where_data_are_and_which_version_it_is(folder: Path, tmp_path: Path) -> None:
    assay, nowhere = folder / "bin" / "assay", {"ASSAY_HOME": ""}
    assert run(assay, "--version") == "assay 0.1.0\n"
    assert run(assay, "where", ASSAY_HOME="/srv/mine") == "/srv/mine\n"
    assert run(assay, "where", XDG_DATA_HOME="/data", **nowhere) == "/data/assay\n"
    own = {"ASSAY_HOME": str(tmp_path / "home")}
    run(assay, "manage", "migrate", "--verbosity", "0", **own)
    run(assay, "manage", "create_campaign", "small", "--name", "Small", **own)
    assert "small" in run(assay, "manage", "shell", "-v", "0", "-c", CAMPAIGNS, **own)


CAMPAIGNS = "from evaluation.models import Campaign; print(*Campaign.objects.values_list('slug', flat=True))"


@newest
def test_an_installation_of_ones_own_asks_for_its_administrator(folder: Path, tmp_path: Path) -> None:
    home, ours_and_its = tmp_path / "home", os.openpty()
    ours, its = ours_and_its
    with started(folder, "start", "--admin", "vera", terminal=its, home=home) as browser:
        answer(ours, "Email", "vera@example.org")
        for _ in range(2):
            answer(ours, "Password", "a long word of hers")
        wait_for(browser, home)
        assert "vera" in browser.sign_in("vera", "a long word of hers")
    for file in ours_and_its:
        os.close(file)


def answer(terminal: int, question: str, words: str) -> None:
    shown = b""
    while question.encode() not in shown:
        shown += os.read(terminal, 1000)
    os.write(terminal, f"{words}\n".encode())


@newest
def test_what_cannot_be_served_is_said(folder: Path, tmp_path: Path) -> None:
    own = os.environ | {"ASSAY_HOME": str(tmp_path / "home"), "SIMULATOR_PORT": str(free_port())}

    def refusal(*words: str, **more: str) -> str:
        command = [str(folder / "bin" / "assay"), *words]
        done = subprocess.run(command, env=own | more, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stdout + done.stderr
        return done.stderr

    with socket_taken() as port:
        message = refusal("demo", "--port", str(port))
        assert message.startswith(f"Port {port} of 127.0.0.1 is not free: Address already in use. ")
        assert "--port" in message
        assert f"Port {port}" in refusal("demo", "--port", str(free_port()), SIMULATOR_PORT=str(port))
    assert "assay.E005" in refusal("start", "--port", str(free_port()), HOST="0.0.0.0")  # noqa: S104
    for command in ("migrate", "load_demo"):
        subprocess.run([folder / "bin" / "assay", "manage", command], env=own, check=True, capture_output=True)
    assert "everybody knows its passwords" in refusal("start", "--port", str(free_port()))


@contextmanager
def socket_taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield int(taken.getsockname()[1])
