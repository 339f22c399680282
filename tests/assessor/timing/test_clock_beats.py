"""The two endpoints of the clock: whose they are, what they take, what they cost."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assessor.models import Desk, TimeSegment
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = pytest.mark.django_db

SEGMENT: dict[str, Any] = {
    "number": 1,
    "kind": "reading",
    "ms_before_now_start": 3000,
    "ms_before_now_end": 0,
    "words": 300,
    "blurred": False,
    "offline": False,
    "item": "d1",
}
BEAT: dict[str, Any] = {
    "window": "window-1",
    "segments": [SEGMENT],
    "place": {"shell": {"split": 55}},
    "elapsed_ms": 3000,
}


@pytest.fixture
def world(tmp_path: Path) -> DeskWorld:
    made = make_desk_world(tmp_path)
    made.client().post(f"/desk/{made.post_edit.public_id}/start/")
    return made


def send(world: DeskWorld, body: Any, name: str = "ann", to: str = "beat", client: Client | None = None) -> Any:
    address = f"/desk/{world.post_edit.public_id}/{to}/"
    return (client or world.client(name)).post(address, body, content_type="application/json")


def test_a_beat_is_answered_with_the_time_the_holder_and_the_seconds(world: DeskWorld) -> None:
    answer = send(world, BEAT).json()
    assert answer.keys() == {"server_time", "holder", "holder_age_s", "free_in_s", "seconds", "gap"}
    assert (answer["holder"], answer["seconds"], answer["gap"]) == ("free", 3, None)
    row = TimeSegment.objects.get()
    assert (row.words, row.item, row.submission, row.kind) == (300, "d1", 1, "reading")


def test_a_beat_of_a_page_from_before_an_update_loses_no_time(world: DeskWorld) -> None:
    answer = send(world, BEAT | {"a_field_of_yesterday": True})
    assert answer.status_code == 200
    assert answer.json()["seconds"] == 3


def test_a_beat_renews_the_hold_of_its_window_and_keeps_the_place(world: DeskWorld) -> None:
    Desk.objects.update(holder="window-1", held_at=timezone.now() - timedelta(minutes=5))
    assert send(world, BEAT).json()["holder"] == "mine"
    desk = Desk.objects.get()
    assert desk.held_at is not None
    assert (timezone.now() - desk.held_at).total_seconds() < 5
    assert desk.place == BEAT["place"]


def test_a_beat_neither_takes_the_desk_nor_moves_another_s_place(world: DeskWorld) -> None:
    Desk.objects.update(holder="window-2", held_at=timezone.now(), place={"shell": {}})
    assert send(world, BEAT).json()["holder"] == "other"
    desk = Desk.objects.get()
    assert (desk.holder, desk.place) == ("window-2", {"shell": {}})
    assert not TimeSegment.objects.exists()


def test_a_beat_costs_few_statements(world: DeskWorld) -> None:
    client = world.client()
    many = [SEGMENT | {"number": number} for number in range(1, 101)]
    send(world, BEAT | {"segments": many}, client=client)
    Desk.objects.update(holder="window-1")
    with CaptureQueriesContext(
        connection,
    ) as context:
        send(world, BEAT | {"segments": [SEGMENT | {"number": 101}]}, client=client)
    verbs = [query["sql"].split()[0] for query in context.captured_queries]
    assert verbs.count("SELECT") <= 4  # session, account, desk, stretches
    assert verbs.count("INSERT") == 1
    assert verbs.count("UPDATE") == 1


@pytest.mark.parametrize("to", ["beat", "gap"])
@pytest.mark.parametrize("name", ["ben", "olga", "rita", "audrey", "sam"])
def test_the_time_of_somebody_else_is_not_there(world: DeskWorld, name: str, to: str) -> None:
    body = BEAT if to == "beat" else {"window": "window-1", "number": 1, "gap_answer": "away"}
    answer = send(world, body, name, to)
    missing = world.client(name).post(f"/desk/nowhere/{to}/", body, content_type="application/json")
    assert (answer.status_code, answer.content) == (404, missing.content)
    assert not TimeSegment.objects.exists()


@pytest.mark.parametrize("to", ["beat", "gap"])
def test_without_a_session_the_answer_is_for_scripts(world: DeskWorld, to: str) -> None:
    answer = send(world, BEAT, to=to, client=Client())
    assert (answer.status_code, answer.json()["code"]) == (401, "signed_out")


def test_a_task_that_was_not_opened_has_no_clock(world: DeskWorld) -> None:
    address = f"/desk/{world.manual.public_id}/beat/"
    assert world.client().post(address, BEAT, content_type="application/json").status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        {"window": ""},
        {"window": "x" * 37},
        {"elapsed_ms": -1},
        {"segments": [SEGMENT] * 501},
        {"segments": [SEGMENT | {"number": -1}]},
        {"segments": [SEGMENT | {"number": 2**31}]},
        {"segments": [SEGMENT | {"kind": "working"}]},
        {"segments": [SEGMENT | {"ms_before_now_end": 4000}]},
        {"segments": [SEGMENT | {"ms_before_now_start": 10**12}]},
        {"segments": [SEGMENT | {"words": 1.5}]},
        {"segments": [SEGMENT | {"started_at": "2026-01-01"}]},
        {"place": [1]},
        {"place": {"all": "x" * 30_000}},
    ],
    ids=str,
)
def test_what_no_clock_would_send_is_refused(world: DeskWorld, change: dict[str, Any]) -> None:
    answer = send(world, BEAT | change)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
    assert not TimeSegment.objects.exists()


def test_the_same_number_twice_in_one_beat_is_one_stretch(world: DeskWorld) -> None:
    assert send(world, BEAT | {"segments": [SEGMENT, SEGMENT]}).status_code == 200
    assert TimeSegment.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"window": "window-1", "number": 1, "gap_answer": "away"}, 422),
        ({"window": "window-1", "number": 1, "gap_answer": "asleep"}, 400),
        ({"window": "window-1", "number": 7, "gap_answer": "away"}, 422),
        ({}, 400),
    ],
    ids=str,
)
def test_only_a_gap_can_be_explained(world: DeskWorld, body: dict[str, Any], status: int) -> None:
    send(world, BEAT)
    assert send(world, body, to="gap").status_code == status
    assert set(TimeSegment.objects.values_list("gap_answer", flat=True)) == {""}
