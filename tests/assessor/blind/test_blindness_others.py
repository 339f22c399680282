"""Somebody else's task answers as one that does not exist: same status, body, headers and statements."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assessor.models import Desk, MarkedPassage, Operation, TimeSegment, WorkingNugget
from evaluation.models import Remark, Submission, Task
from evaluation.terms import TaskState
from tests.assessor.desk_client import Window
from tests.crawl.canaries import body_of
from tests.crawl.desk_requests import FORMS, NONSENSE, POSTED, QUERIES, READ_ONLY, Known, bodies, encoded
from tests.worlds.desk import DeskWorld

MISSING = "Zz0123456789"
"""As long as a real id."""
CHANGING = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"|"server_time": "[^"]*"')
RUNNING = re.compile(r'"s\d+_x\d+"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?')
"""Names of savepoints, and times."""
CLOCKED = {"Expires", "X-Request-ID"}
PATHS = {"task": "", "remark": "remarks/", "restore": "history/restore/"}
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
Ask = tuple[str, str | None, str]


@pytest.fixture
def busy(world: DeskWorld) -> DeskWorld:
    """Ann works at her first task, and has not started her second."""
    ann = Window(world.client(), world.post_edit).open()
    ann.do("add", key="own", text="my own words", importance=1, evidence=[], after=None)
    ann.do("mark", segment=world.segments()[0].public_id, mark="read")
    return world


def requests_of(task: str, known: Known) -> Iterator[Ask]:
    for name in sorted(READ_ONLY):
        for query in QUERIES:
            yield PATHS.get(name, f"{name}/") + query, None, JSON
    for name in sorted(POSTED):
        path = PATHS.get(name, f"{name}/")
        for body in bodies(name, task, known):
            form = "&".join(f"{key}={value}" for key, value in body.items())
            yield (path, form, FORM) if name in FORMS else (path, encoded(body), JSON)
        for nonsense in NONSENSE:
            yield path, nonsense, JSON
        yield path, None, JSON


def answer(client: Client, task: str, ask: Ask, *, htmx: bool = False) -> tuple[Any, ...]:
    """What comes back, and which statements it took; the task's own id taken out."""
    path, body, kind = ask
    client.cookies.pop("messages", None)  # what an answer before left to be shown
    address, headers = f"/desk/{task}/{path}", {"hx-request": "true"} if htmx else {}
    with CaptureQueriesContext(connection) as context:
        if body is None:
            response: HttpResponseBase = client.get(address, headers=headers)
        else:
            response = client.post(address, body, content_type=kind, headers=headers)
    statements = [RUNNING.sub("", query["sql"].replace(task, "?")) for query in context.captured_queries]
    shown = [(name, value.replace(task, "?")) for name, value in response.items() if name not in CLOCKED]
    without_id = CHANGING.sub(b"", body_of(response)).replace(task.encode(), b"?")
    return (
        response.status_code,
        without_id,
        [header for header in shown if header[0] != "Last-Modified"],
        statements,
    )


def differences(client: Client, theirs: str, known: Known) -> list[str]:
    """Where somebody else's task answers in another way than none."""
    client.get("/desk/")  # a session's first request is not like the others
    found = []
    for ask in requests_of(theirs, known):
        for htmx in (False, True):
            if answer(client, theirs, ask, htmx=htmx) != answer(client, MISSING, ask, htmx=htmx):
                found.append(f"{ask[0]} {ask[1]}")
    return found


def everything() -> dict[str, list[Any]]:
    tables = (Task, Desk, WorkingNugget, Operation, MarkedPassage, TimeSegment, Remark, Submission)
    return {table.__name__: list(table._default_manager.order_by("pk").values()) for table in tables}


@pytest.mark.slow
@pytest.mark.parametrize("person", ["ben", "olga", "sam"])
def test_somebody_else_s_task_answers_as_none_and_stays_as_it_is(busy: DeskWorld, person: str) -> None:
    known = Known(segments=(busy.segments()[0].public_id,))
    before = everything()
    for task in (busy.post_edit, busy.manual):
        assert differences(busy.client(person), task.public_id, known) == []
    assert everything() == before


@pytest.mark.parametrize(
    "state",
    [
        TaskState.SUBMITTED,
        TaskState.WITHDRAWN,
        *(pytest.param(state, marks=pytest.mark.slow) for state in (TaskState.REOPENED, TaskState.BLOCKED)),
    ],
)
def test_whatever_its_state(busy: DeskWorld, state: TaskState) -> None:
    Task.objects.update(state=state, blocked_reason="Texts are missing.", reopened_reason="Add dates.")
    assert differences(busy.client("ben"), busy.post_edit.public_id, Known()) == []


@pytest.mark.slow
def test_a_task_taken_away_tells_its_person_alone(busy: DeskWorld) -> None:
    Task.objects.filter(pk=busy.post_edit.pk).update(state=TaskState.WITHDRAWN)
    client, before = busy.client(), everything()
    client.get("/desk/")
    task, known = busy.post_edit.public_id, Known()
    for ask in requests_of(task, known):
        assert answer(client, task, ask)[0] == answer(client, MISSING, ask)[0], ask
    assert everything() == before
    assert differences(busy.client("ben"), task, known) == []


def test_without_a_session_no_address_tells_a_task_from_none(busy: DeskWorld) -> None:
    assert differences(Client(), busy.post_edit.public_id, Known()) == []


def test_without_a_token_no_address_tells_a_task_from_none(busy: DeskWorld) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(busy.people["ben"])
    assert differences(client, busy.post_edit.public_id, Known()) == []


def test_the_comparison_can_fail(busy: DeskWorld) -> None:
    found = differences(busy.client(), busy.post_edit.public_id, Known())
    assert {difference.split("/")[0] for difference in found} >= {
        "state",
        "review",
        "history",
        "guidelines",
        "ops",
        "remarks",
    }
