"""The endpoint's key and password are nowhere: in no table, page, API answer, export, mail or log.

The endpoint of this test repeats what it is sent, in its errors, its replies and the name of its model.
"""

import json
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core import mail
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings

from evaluation.models import Assignment
from jobs.models import Notice
from llmjobs import client
from llmjobs.client import close_clients
from llmjobs.models import Attempt, Call, LlmJob
from organizer.jobs.mails import send_due
from tests.crawl.canaries import body_of
from tests.llmjobs.conftest import PointAt
from tests.worlds.cast import make_user
from tests.worlds.llm import in_thread, make_world, start_assigning, work_on

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("transactional_db", "_quick_retries"),
]
KEY, PASSWORD = "sk-planted-0123456789abcdef", "planted-password-97531"


class _Leaky(BaseHTTPRequestHandler):
    """Fails once with what it was sent, then answers with it."""

    failed = False

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        heard = f"{self.headers.get('Authorization')} {KEY} {PASSWORD}"
        status, body = (200, _completion(heard)) if _Leaky.failed else (500, {"error": {"message": heard}})
        _Leaky.failed = True
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal quiet."""


def _completion(heard: str) -> dict[str, Any]:
    reply = f'You sent {heard}. ["support", "support", "support"]'
    return {"model": heard, "choices": [{"message": {"content": reply}, "finish_reason": "stop"}]}


@pytest.fixture
def _leaky(point_at: PointAt, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Leaky)
    with in_thread(lambda: server.serve_forever(poll_interval=0.05)):
        point_at(f"http://somebody:{PASSWORD}@127.0.0.1:{server.server_address[1]}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        client._endpoint.cache_clear()
        yield
        close_clients()
        server.shutdown()
    server.server_close()


def served(label: int, job: int) -> Iterator[str]:
    client = Client()
    client.force_login(make_user("root", is_superuser=True))
    call = Call.objects.all()[0].pk
    pages = [
        "jobs/",
        "jobs/new/",
        f"jobs/{job}/",
        f"calls/{call}/",
        f"labels/assignment/{label}/",
        "inbox/",
        "quality/",
    ]
    addresses = [f"/campaigns/river/{page}" for page in pages]
    addresses += [f"/api/v1/{name}/?format=jsonl" for name in ("jobs", "events", "judges", "assignments")]
    for address in [*addresses, f"/api/v1/assignments/{label}/provenance", "/api/schema/"]:
        response = client.get(address)
        assert response.status_code == 200, address
        yield body_of(response).decode()


def stored() -> Iterator[str]:
    for model in apps.get_models():
        yield from (str(row) for row in model._default_manager.values_list())


def exported_as(what: str, folder: Path) -> str:
    condition = ["--condition", "A/A"] if what == "assignments" else []
    words = [what, "--campaign", "river", "--output", str(folder / what), *condition]
    call_command("export", *words, stderr=StringIO())
    return (folder / what).read_text()


@pytest.mark.usefixtures("_leaky")
def test_what_an_endpoint_repeats_is_nowhere(
    tmp_path: Path, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.MAIL_ABOUT_JOBS = True
    caplog.set_level(logging.DEBUG)
    world = make_world()
    job = start_assigning(world)
    job.made_by = make_user("olga", is_superuser=True)
    job.save()
    work_on(concurrency=1)
    assert Attempt.objects.filter(error="server_error").exists()
    assert Call.objects.filter(reply__contains="You sent").exists()
    send_due()
    assert Notice.objects.get().mailed_at
    label, llm = Assignment.objects.all()[0], LlmJob.objects.get()
    exported = [exported_as(what, tmp_path) for what in ("events", "nuggets", "assignments")]
    texts = [
        *stored(),
        *served(label.pk, llm.pk),
        *exported,
        caplog.text,
        *(message.body for message in mail.outbox),
    ]
    assert [text[:200] for text in texts if KEY in text or PASSWORD in text] == []
