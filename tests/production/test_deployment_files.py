"""The files of a deployment name what is there: no container engine is needed to see that."""

import json
import re
from contextlib import closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from django.conf import settings

from assay import SERVERS
from loadtest.servers.proxy import Proxy
from tests import needed
from web.environment import SECRETS

ROOT = settings.BASE_DIR
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
OURS = [name for name, service in COMPOSE["services"].items() if service["image"] == "${ASSAY_IMAGE:-assay}"]


def variables() -> set[str]:
    example = (ROOT / ".env.example").read_text("utf-8")
    return set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE)) | {f"{name}_FILE" for name in SECRETS}


def test_compose_has_the_production_shape() -> None:
    assert set(COMPOSE["services"]) >= {"migrate", "web", "worker", "database", "redis", "proxy", "backup"}
    for name, service in COMPOSE["services"].items():
        ends = service.get("restart") == "no"
        assert "healthcheck" in service or name == "web", name  # of web it is the image's
        assert ends or service["restart"] == "unless-stopped", name
    assert [name for name, service in COMPOSE["services"].items() if "ports" in service] == ["proxy"]
    assert COMPOSE["services"]["web"]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}


@pytest.mark.parametrize("name", OURS)
def test_every_variable_of_a_service_is_one_that_assay_reads(name: str) -> None:
    service = COMPOSE["services"][name]
    assert sorted(set(service["environment"]) - variables()) == []
    files = {value.rpartition("/")[2] for key, value in service["environment"].items() if key.endswith("_FILE")}
    assert files <= set(service["secrets"]) <= set(COMPOSE["secrets"])
    assert not [key for key in service["environment"] if key in SECRETS]


@pytest.mark.parametrize("name", OURS)
def test_a_container_that_is_still_starting_can_be_stopped(name: str) -> None:
    # Process 1 of a container ignores a signal until it has a handler for it.
    assert COMPOSE["services"][name]["init"] is True


def test_what_compose_mounts_and_starts_is_in_the_repository() -> None:
    mounted = [volume for service in COMPOSE["services"].values() for volume in service.get("volumes", [])]
    here = [volume.split(":")[0] for volume in mounted if volume.startswith("./")]
    private = ("./deploy/certificate",)
    assert [path for path in here if path not in private and not (ROOT / path).exists()] == []
    used = {volume.split(":")[0] for volume in mounted} - set(here)
    assert used == set(COMPOSE["volumes"])
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    assert {"/deploy/secrets/", "/deploy/certificate/"} <= set(ignored)


def test_the_image_runs_as_nobody_in_particular() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    users = [line for line in lines if line.startswith("USER")]
    assert users == ["USER assay"]
    assert lines.index("USER assay") < next(n for n, line in enumerate(lines) if line.startswith("CMD"))
    assert any(line.startswith("HEALTHCHECK") for line in lines)


def test_every_way_to_start_it_starts_the_same_processes() -> None:
    assert {"web", "worker"} <= SERVERS.keys()
    for name in ("web", "worker"):
        unit = (ROOT / "deploy" / "systemd" / f"assay-{name}@.service").read_text("utf-8").splitlines()
        assert f"ExecStart=/srv/assay/.venv/bin/python assay.py start {name}" in unit
        assert {"NoNewPrivileges=true", "Restart=always"} <= set(unit)
        assert COMPOSE["services"][name]["command"] == ["start", name]


def test_the_image_takes_the_wheel_and_nothing_else_of_this_folder() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    copied = [
        word for line in lines if line.startswith("COPY") and "--from" not in line for word in line.split()[1:-1]
    ]
    assert copied == ["requirements.txt", "dist/*.whl", "deploy/probe.py"]
    assert (ROOT / ".dockerignore").read_text("utf-8").split() == ["*", *(f"!{path}" for path in copied)]
    assert 'ENTRYPOINT ["assay"]' in lines


class _Taking(BaseHTTPRequestHandler):
    """A web process that reads whatever it is sent."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.mark.parametrize(
    ("path", "mebibytes", "status"),
    [
        ("/accounts/login/", 2, 204),
        ("/accounts/login/", 4, 413),
        ("/desk/abc/ops/", 4, 413),
        ("/campaigns/river/data/load/runs/", 4, 204),
        ("/api/v1/campaigns/river/imports/runs", 4, 204),
        ("/api/v1/campaigns/river/imports/runs", 68, 204),
        ("/api/v1/campaigns/river/imports/runs", 258, 413),
        ("/api/v1/jobs/", 4, 413),
    ],
)
def test_the_proxy_passes_large_files_to_imports_only(
    path: str, mebibytes: int, status: int, tmp_path: Path
) -> None:
    needed.program("nginx")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Taking) as web:
        Thread(target=web.serve_forever, daemon=True).start()
        proxy = Proxy(tmp_path, [f"127.0.0.1:{web.server_port}"])
        proxy.start()
        try:
            with closing(HTTPConnection(proxy.address, timeout=60)) as connection:
                connection.putrequest("POST", path)
                connection.putheader("Content-Length", str(mebibytes * 1024**2))
                connection.endheaders()
                if status != 413:  # what is refused is refused by its length
                    connection.send(b"x" * (mebibytes * 1024**2))
                answer = connection.getresponse()
                assert answer.status == status
                if status == 413 and path.startswith("/api/"):
                    assert answer.headers["Content-Type"] == "application/problem+json"
                    assert json.load(answer)["code"] == "too_large"
        finally:
            proxy.stop()
            web.shutdown()


def test_the_proxy_lets_the_largest_upload_through() -> None:
    sizes = re.findall(r"client_max_body_size (\d+)m", (ROOT / "deploy" / "proxy.conf").read_text("utf-8"))
    assert max(map(int, sizes)) * 1024**2 > settings.API_UPLOAD_MAX_BYTES
    assert min(map(int, sizes)) * 1024**2 > settings.DATA_UPLOAD_MAX_MEMORY_SIZE


class _Stopping(BaseHTTPRequestHandler):
    """A web process that stops while a request is under way: it takes the request and answers nothing."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def posted(path: str, folder: Path) -> set[int]:
    """Return the statuses of some requests to two web processes, of which one stops."""
    folder.mkdir()
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), _Taking) as web,
        ThreadingHTTPServer(("127.0.0.1", 0), _Stopping) as stopping,
    ):
        for server in (web, stopping):
            Thread(target=server.serve_forever, daemon=True).start()
        proxy = Proxy(folder, [f"127.0.0.1:{server.server_port}" for server in (stopping, web)])
        proxy.start()
        try:
            with closing(HTTPConnection(proxy.address, timeout=60)) as connection:
                return {_status(connection, path) for _ in range(3)}
        finally:
            proxy.stop()
            web.shutdown()
            stopping.shutdown()


def _status(connection: HTTPConnection, path: str) -> int:
    connection.request("POST", path, b"{}")
    answer = connection.getresponse()
    answer.read()
    return answer.status


def test_a_save_goes_on_when_its_web_process_stops(tmp_path: Path) -> None:
    needed.program("nginx")
    assert posted("/desk/abc/ops/", tmp_path / "saves") == {204}
    assert posted("/campaigns/", tmp_path / "forms") == {204, 502}  # a form may not be sent twice
