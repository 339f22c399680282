"""A secret is in the environment and in the header of a request to its own endpoint. A server that repeats it in every
way there is, and jobs that fail on it, bring it into no table, log, export or page.
"""

import json
import logging
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from evaluation.models import Assignment, Membership
from evaluation.terms import Role
from llmjobs import client
from llmjobs.client import close_clients
from llmjobs.models import Attempt, Call
from tests.security.conftest import Audit
from tests.worlds.cast import make_user
from tests.worlds.imported import run
from tests.worlds.llm import in_thread, make_world, start_assigning, work_on
from web.environment import SECRETS

MARK = "canary"
KEY = f"sk-{MARK}-0123456789abcdef"
PASSWORD = f"pw-{MARK}"
BASIC = b64encode(f"somebody:{PASSWORD}".encode()).decode()
EXPORTS = [("nuggets", "A/A"), ("assignments", "A/A"), ("scores", "A/A"), ("events", ""), ("time", "")]


class Parrot(ThreadingHTTPServer):
    """An endpoint that says whatever it was sent: in errors, in replies, in what is no reply, in headers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _ParrotHandler)
        self.turns = count()
        self.heard = 0


class _ParrotHandler(BaseHTTPRequestHandler):
    server: Parrot

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        header_text = " ".join(self.headers.values())
        self.server.heard += KEY in header_text or BASIC in header_text
        turn = next(self.server.turns)
        if turn == 3:
            return  # without a word
        status, body = self.answer(turn, header_text)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Said", header_text.replace("\n", " "))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, turn: int, header_text: str) -> tuple[int, bytes]:
        """Repeat the key in a way of its own each time, and at last answer as one should, and still repeat it."""
        error = json.dumps(
            {"error": {"message": f"Incorrect API key provided: {header_text}", "code": header_text}}
        ).encode()
        choice = {"message": {"content": f'["support", "{header_text}"]'}, "finish_reason": KEY}
        label = {"message": {"content": f'["support"] {header_text}'}, "finish_reason": "stop"}
        answers: list[tuple[int, bytes]] = [
            (500, error),
            (200, f"<html>{header_text}".encode()),
            (429, header_text.encode()),
            (500, b""),
            (200, json.dumps({"model": KEY, "choices": [choice]}).encode()),
            (400, error),
            (401, error),
            (403, header_text.encode()),
        ]
        return (
            answers[turn]
            if turn < len(answers)
            else (200, json.dumps({"model": KEY, "choices": [label]}).encode())
        )

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def parrot(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, request: pytest.FixtureRequest
) -> Iterator[Parrot]:
    """Put a secret of each kind where it belongs, and the endpoint beside."""
    for name in SECRETS:
        monkeypatch.setenv(name, f"{name.lower()}-{MARK}-0123456789")
    settings.SECRET_KEY = f"{MARK}-of-the-signatures-0123456789"
    settings.CELERY_BROKER_URL = f"redis://:{MARK}@127.0.0.1:1/0"
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with Parrot() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://{request.param}127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        client._endpoint.cache_clear()
        with in_thread(lambda: server.serve_forever(poll_interval=0.02)):
            yield server
            close_clients()
            server.shutdown()
    client._endpoint.cache_clear()


def tables() -> str:
    models = apps.get_models(include_auto_created=True)
    return "\n".join(
        f"{model._meta.label} {row}" for model in models for row in model._default_manager.values_list()
    )


def pages(client: Client, job: int) -> Iterator[tuple[str, str]]:
    there = [("job", job), *[("call", pk) for pk in Call.objects.values_list("pk", flat=True)]]
    there += [("assignment_label", pk) for pk in Assignment.objects.values_list("pk", flat=True)]
    addresses = [reverse(f"organizer:{name}", args=["river", pk]) for name, pk in there]
    addresses += [
        reverse(f"organizer:{name}", args=["river"]) for name in ("campaign", "jobs", "new_job", "findings")
    ]
    for address in addresses:
        yield address, client.get(address).content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db", "_quick_retries")
@pytest.mark.parametrize(
    "parrot",
    ["", pytest.param(f"somebody:{PASSWORD}@", marks=pytest.mark.slow)],
    indirect=True,
    ids=["a key", "a password in the address"],
)
def test_no_secret_is_stored_logged_exported_or_shown(
    parrot: Parrot, audit_log: Audit, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    world = make_world(runs=6, nuggets=1)
    olga = make_user("olga")
    Membership.objects.create(campaign=world.campaign, user=olga, role=Role.ORGANIZER)
    client = Client()
    client.force_login(olga)
    job = start_assigning(world)
    work_on(seconds=20)
    exported = [
        run("export", what, "--campaign", "river", "--condition", condition) for what, condition in EXPORTS
    ]
    shown = dict(pages(client, job.pk))
    assert parrot.heard > 6
    assert Attempt.objects.exclude(error="").count() >= 5
    places = {
        "tables": tables(),
        "log": caplog.text,
        "exports": "\n".join(f"{outcome.out} {outcome.err}" for outcome in exported),
        "audit log": audit_log.path.read_text(),
        "streams": "".join(capfd.readouterr()),
        **shown,
    }
    assert {name: _around(text) for name, text in places.items() if MARK in text or BASIC in text} == {}


def _around(text: str) -> str:
    at = max(text.find(MARK), text.find(BASIC))
    return text[max(0, at - 120) : at + 40]
