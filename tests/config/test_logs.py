"""A log tells what happened, and nothing of what anybody wrote: canaries in all content, and none in the log."""

import io
import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from django.db import connection
from django.test import Client
from redis.exceptions import AuthenticationError, ResponseError

from accounts.models import User
from evaluation.models import Segment
from jobs.models import WorkItem
from llmjobs.engine.outcomes import set_aside
from loadtest.servers.services import Redis
from loadtest.servers.simulator import LoggedSimulator
from tests import needed
from tests.assessor.desk_client import Window
from tests.llmjobs.conftest import point_at, simulator
from tests.llmjobs.processes import worker
from tests.worlds.desk import make_desk_world
from tests.worlds.llm import answer_with, make_world, start_assigning, states_of, wait_until, work_on
from web.logs import logging_settings

__all__ = ["point_at", "simulator"]
pytestmark = pytest.mark.django_db
CANARY = "canary"
WRONG_PASSWORD = AuthenticationError("WRONGPASS invalid username-password pair or user is disabled.")
Logged = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def logged(request: pytest.FixtureRequest) -> Iterator[Logged]:
    made = logging_settings(form="json", level="DEBUG", everything=False)["formatters"]["line"]
    formatter, out, root = made.pop("()"), io.StringIO(), logging.getLogger()
    handler = logging.StreamHandler(out)
    handler.setFormatter(formatter(**made))
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]
    root.removeHandler(handler)
    root.setLevel(before)
    assert CANARY not in out.getvalue().lower()


@pytest.fixture
def window(tmp_path: Path) -> Window:
    world = make_desk_world(tmp_path)
    Segment.objects.filter(has_text=True).update(text="A canary sings in this passage.")
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(username="ann"))
    return Window(client, world.post_edit)


def lines_of(logged: Logged, event: str) -> list[dict[str, Any]]:
    return [line for line in logged() if line["event"] == event]


def test_a_served_request_is_told_by_its_route_and_its_id(logged: Logged, window: Window) -> None:
    answer = window.client.get(window.url(), {"search": "canary"})
    window.post("ops/", {"window": "canary", "ops": "canary"})
    window.client.get("/canary/is/no/page")
    window.client.post("/accounts/login/", {"login": "canary-name", "password": "canary-password"})
    finished = lines_of(logged, "request_finished")
    assert finished[0]["request"] == f"GET {window.url()}"
    assert finished[0]["request_id"] == answer["X-Request-ID"]
    assert finished[0]["code"] == 200
    assert [line["request"] for line in finished[2:]] == ["GET (unresolved)", "POST /accounts/login/"]


def test_a_failing_request_logs_type_and_frames_but_no_content(logged: Logged, window: Window) -> None:
    window.open()
    with connection.cursor() as cursor:
        refuse = "CREATE TRIGGER fails BEFORE INSERT ON assessor_operation BEGIN SELECT RAISE(ABORT, '{}'); END"
        cursor.execute(refuse.format("the row has the canary nugget"))
    operation = window.op("add", key="6f1b1a52-2b7e-4a0a-9c9e-1f9f2b1f0c11", text="a canary nugget", importance=1)
    operation["payload"] |= {"evidence": [], "after": None}
    window.post("hold/", {"window": window.window, "want": "take"})
    answer = window.post("ops/", {"window": window.window, "ops": [operation]})
    assert answer.status_code == 500
    (failed,) = lines_of(logged, "request_failed")
    assert failed["request_id"] == answer["X-Request-ID"]
    assert failed["exception"]["type"] == "IntegrityError"
    assert any("desk/apply_op.py" in frame for frame in failed["exception"]["frames"])
    assert CANARY not in answer.content.decode()


@pytest.mark.usefixtures("transactional_db")
def test_an_llm_job_logs_the_id_of_the_request_that_started_it(
    logged: Logged, simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    world = make_world()
    answer_with(world.topics[0], world.campaign.runs.create(run_id="singing"), "A canary sings.")
    with structlog.contextvars.bound_contextvars(request_id="the-request"):
        job = start_assigning(world)
    work_on()
    assert states_of(job) == {"done": 3}
    (taken,) = lines_of(logged, "job_taken_up")
    assert (taken["request_id"], taken["job"]) == ("the-request", job.pk)
    item = WorkItem.objects.filter(job=job).select_related("job")[0]
    set_aside(item, ValueError("the reply was: a canary"))
    (aside,) = lines_of(logged, "item_set_aside")
    assert (aside["request_id"], aside["job"], aside["exception"]["type"]) == ("the-request", job.pk, "ValueError")


@pytest.mark.parametrize(
    ("message", "args", "kept"),
    [
        ("error connecting in %r: %s", ("pool-1", ConnectionRefusedError("no route to host")), "no route to host"),
        ("reply %s took %d ms", ("a canary reply", 20), "took 20 ms"),
        ("%s failed", (ValueError("canary"),), "ValueError failed"),
        ("Request options: %s", ({"messages": ["canary"]},), "Request options"),
        ("Error handling request /desk/?search=canary", (), "Error handling request /desk/"),
        (
            "consumer: Cannot connect to %s: %s.\n%s",
            ("redis://:**@redis:6379/0", WRONG_PASSWORD, "Trying again in 2.00 seconds... (1/100)"),
            "Cannot connect to redis://redis:6379/0: AuthenticationError: WRONGPASS invalid username-password pair"
            " or user is disabled..\nTrying again in 2.00 seconds... (1/100)",
        ),
        ("%s", (ResponseError("unknown command 'SETT', with args beginning with: 'canary'"),), "command 'SETT'"),
        ("broker %s", ("redis://:canary@redis:6379/0",), "broker redis://redis:6379/0"),
        ("broker redis://somebody:canary@redis:6379/0", (), "broker redis://redis:6379/0"),
        (
            "%s",
            (ConnectionRefusedError("postgres://assay:canary@database/assay refused"),),
            "postgres://database/",
        ),
        (
            "Task %(name)s raised: %(exc)s",
            {"name": "jobs.work", "exc": "ValueError('canary')"},
            "jobs.work",
        ),
    ],
)
def test_what_packages_log_keeps_numbers_and_names(logged: Logged, message: str, args: Any, kept: str) -> None:
    logging.getLogger("a.package").error(message, *([args] if isinstance(args, dict) else args))
    (line,) = logged()
    assert kept in line["event"]
    assert (line["logger"], line["level"]) == ("a.package", "error")


def test_a_worker_names_why_the_broker_refuses_it(tmp_path: Path) -> None:
    needed.program("redis-server")
    redis, log = Redis(tmp_path, password="the-password"), tmp_path / "worker.log"
    redis.start()
    wrong = redis.url.replace("the-password", "another-password")
    own = {"DATABASE_URL": f"sqlite:///{tmp_path / 'assay.sqlite3'}", "CELERY_BROKER_URL": wrong}
    try:
        with worker(os.environ | own, log):
            wait_until(lambda: "Cannot connect" in log.read_text(), seconds=60)
    finally:
        redis.stop()
    line = next(entry for entry in log.read_text().splitlines() if "Cannot connect" in entry)
    assert redis.url.rpartition("@")[2] in line
    assert "AuthenticationError: invalid username-password pair" in line
    assert "password@" not in line
