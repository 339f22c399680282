"""Remarks from the desk: taken down once however often they are sent, and only on one's own task."""

from typing import Any

import pytest
from django.test import Client

from evaluation.models import Remark
from tests.worlds.desk import DeskWorld

SAID: dict[str, Any] = {
    "kind": "comment",
    "about": "N7",
    "text": "unclear",
    "public_id": "0b0e8a52-7f6c-4d5c-9d43",
}


def send(client: Client, task: str, **changes: object) -> Any:
    return client.post(f"/desk/{task}/remarks/", {**SAID, **changes}, content_type="application/json")


@pytest.mark.parametrize("kind", ["comment", "flag", "interruption"])
def test_a_remark_is_taken_down(world: DeskWorld, kind: str) -> None:
    answer = send(world.client(), world.post_edit.public_id, kind=kind)
    assert (answer.status_code, answer.json()) == (200, {"public_id": SAID["public_id"]})
    stored = Remark.objects.get()
    assert (stored.task, stored.kind, stored.about, stored.text) == (world.post_edit, kind, "N7", "unclear")


def test_sent_twice_it_is_one_remark(world: DeskWorld) -> None:
    answers = [send(world.client(), world.post_edit.public_id) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert Remark.objects.count() == 1


@pytest.mark.parametrize(
    "changes",
    [{"kind": "gossip"}, {"public_id": ""}, {"public_id": "../x"}, {"text": "x" * 5001}, {"about": "x" * 201}],
)
def test_what_is_no_remark_is_refused_as_json(world: DeskWorld, changes: dict[str, object]) -> None:
    answer = send(world.client(), world.post_edit.public_id, **changes)
    assert answer.status_code == 400
    assert answer.json()["code"] == "bad_request"
    assert not Remark.objects.exists()


def test_an_empty_remark_says_what_is_missing(world: DeskWorld) -> None:
    answer = send(world.client(), world.post_edit.public_id, text=" ")
    assert answer.status_code == 422
    assert answer.json()["message"]


def test_on_somebody_else_s_task_it_answers_as_on_none(world: DeskWorld) -> None:
    theirs = send(world.client("ben"), world.post_edit.public_id)
    nobodys = send(world.client("ben"), "nosuchtask000000")
    assert (theirs.status_code, theirs.content) == (nobodys.status_code, nobodys.content)
    assert theirs.status_code == 404
    assert not Remark.objects.exists()


def test_without_a_session_it_answers_401_and_no_page(world: DeskWorld) -> None:
    answer = send(Client(), world.post_edit.public_id)
    assert (answer.status_code, answer.json()["code"]) == (401, "signed_out")
