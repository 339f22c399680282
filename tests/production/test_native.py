"""The production shape without containers: started by the commands of docs/operations.md, behind a proxy with TLS."""

import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from loadtest.servers.proxy import Proxy
from loadtest.servers.services import free_port
from loadtest.servers.web import running_web
from tests import needed
from tests.architecture.test_docs import blocks

pytestmark = pytest.mark.slow
LONGEST = 180.0  # seconds
PAGE = "/accounts/login/"


def commands() -> list[str]:
    found = []
    for info, body in blocks(settings.BASE_DIR / "docs" / "operations.md"):
        if info == ["console", "tried"]:
            found += body.removeprefix("$ ").rstrip("\n").split("\n$ ")
    return found


def shell(command: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def started(command: str, environment: Mapping[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as out:
        line = f"exec {command.removesuffix('&')}"
        process = subprocess.Popen(
            ["bash", "-c", line],
            cwd=settings.BASE_DIR,
            env=environment,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the operator has set: secrets in files, HTTPS, a free port."""
    key, token = tmp_path / "key", tmp_path / "token"
    key.write_text("of this test, and long enough to be no word of any language, as it should be")
    token.write_text("the token")
    own = {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'assay.sqlite3'}",
        "SECRET_KEY_FILE": str(key),
        "METRICS_TOKEN_FILE": str(token),
        "ALLOWED_HOSTS": "assay.example.org,127.0.0.1",
        "CSRF_TRUSTED_ORIGINS": "https://assay.example.org",
        "HTTPS": "1",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "INFO",
        "AUDIT_LOG": str(tmp_path / "audit.jsonl"),
        "WEB_WORKERS": "1",
        "PORT": str(free_port()),
        "SIMULATOR_PORT": str(free_port()),
        "BACKUPS": str(tmp_path),
    }
    return {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO_", "DEMO"))} | own


def fetched(address: str, path: str, *, tls: bool = False, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(address, timeout=30)
    if tls:
        own = ssl._create_unverified_context()  # noqa: S323
        connection = http.client.HTTPSConnection(address, timeout=30, context=own)
    try:
        connection.request("GET", path, headers={"Host": "assay.example.org", **headers})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def details_of(address: str) -> dict[str, Any]:
    """What a web process tells whoever has the token."""
    found: dict[str, Any] = json.loads(fetched(address, "/readyz", Authorization="Bearer the token")[2])
    return found


def await_all(address: str, log: Path) -> None:
    """Wait until the web process is ready and the worker alive."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            if details_of(address)["checks"]["queue"]["workers"] == 1:
                return
        except (OSError, ValueError, KeyError):
            pass
        time.sleep(0.5)
    pytest.fail(f"not everything is there: {log.read_text()[-1500:]}")


def test_operations_md_starts_what_serves(environment: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    *before, start, probe, backup, check, restore = commands()
    for command in before:
        done = shell(command, environment)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    address = f"127.0.0.1:{environment['PORT']}"
    with started(start, environment, log):
        await_all(address, log)
        assert shell(probe, environment).returncode == 0
        assert details_of(address)["problems"] == []
        _check_https(address)
        for command in (backup, check):
            done = shell(command, environment)
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    assert shell(probe, environment).returncode == 1
    done = shell(restore, environment)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in re.findall(r"\{\"code.*\}", log.read_text())]
    assert {line["request"] for line in records} >= {f"GET {PAGE}", "GET /readyz"}


def _check_https(address: str) -> None:
    """Check what a web process answers to a proxy: secure cookies and HSTS by HTTPS, a redirect by HTTP."""
    status, headers, _ = fetched(address, PAGE)
    assert (status, headers["location"]) == (301, f"https://assay.example.org{PAGE}")
    status, headers, _ = fetched(address, PAGE, tls=False, **{"X-Forwarded-Proto": "https"})
    assert status == 200
    assert headers["strict-transport-security"].startswith("max-age=31536000")
    assert "; Secure" in headers["set-cookie"]
    assert b"assay_http_requests_total" in fetched(address, "/metrics", Authorization="Bearer the token")[2]


def _make_certificate(folder: Path) -> Path:
    request = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=assay"
    done = shell(f"cd {folder} && {request} -keyout key.pem -out cert.pem", os.environ)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def by_nginx(environment: dict[str, str], tmp_path: Path) -> Iterator[str]:
    needed.program("nginx")
    needed.program("openssl")
    for command in ("migrate --verbosity 0", "collectstatic --noinput --verbosity 0"):
        done = shell(f"{sys.executable} manage.py {command}", environment)
        assert done.returncode == 0, done.stderr
    del environment["PORT"]  # the web process takes a free one
    with running_web(tmp_path / "log", own=environment) as web:
        proxy = Proxy(tmp_path, [web.address], certificate=_make_certificate(tmp_path))
        proxy.start()
        try:
            yield proxy.address
        finally:
            proxy.stop()


def test_nginx_serves_pages_and_files_by_tls(by_nginx: str) -> None:
    status, headers, page = fetched(by_nginx, PAGE, tls=True)
    assert status == 200
    assert headers["strict-transport-security"].startswith("max-age=31536000")
    assert "; Secure" in headers["set-cookie"]
    style = re.search(r'href="(/static/css/[\w.-]+\.[0-9a-f]{12}\.css)"', page.decode())
    assert style
    status, headers, _ = fetched(by_nginx, style[1], tls=True, **{"Accept-Encoding": "br"})
    assert (status, headers["content-encoding"]) == (200, "br")
    assert "immutable" in headers["cache-control"]


def test_nginx_passes_no_figures_on(by_nginx: str) -> None:
    assert fetched(by_nginx, "/metrics", tls=True, Authorization="Bearer the token")[0] == 404
    assert fetched(by_nginx, "/readyz", tls=True)[0] == 404
