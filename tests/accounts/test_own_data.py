"""One's own data: all of one's own, nothing of others, and nothing that tells whose answers one judged."""

import io
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client

from evaluation.models import Answer, Run, Topic
from evaluation.stages import ASSIGN, SUPPORT_SCRATCH
from evaluation.tasks.remarks import remark
from evaluation.terms import RemarkKind
from exchange.own_data import PARTS
from tests.accounts.conftest import confirmed
from tests.worlds.judging import MACHINE, JudgingWorld, finish, load_machine, make_judging_world

pytestmark = pytest.mark.django_db

SECRETS = ("alpha", "beta", "gamma", "delta", "of alpha", MACHINE, "robot", "by edited", "ben", "olga", "rita")


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    """Ann and Ben judge the same answers, whose labels differ; an LLM has judged them too."""
    world = make_judging_world(tmp_path)
    load_machine(world, ("alpha", 0, "d1", "full_support"), ("gamma", 0, "d2", "no_support"))
    finish(world.hand(SUPPORT_SCRATCH, "ann"), 2)
    finish(world.hand(SUPPORT_SCRATCH, "ben", again=True), 0)
    task = world.hand(ASSIGN, "ann", nuggets=world.campaign.nugget_sets.get(name="edited"))
    finish(task, 1)
    remark(
        task=task.public_id, user=world.people["ann"], kind=RemarkKind.COMMENT, about="", text="Ann's own words"
    )
    return world


def data_of(world: JudgingWorld, name: str) -> dict[str, list[dict[str, Any]]]:
    answer = confirmed(name).post("/your-data/")
    assert "attachment" in answer["Content-Disposition"]
    with ZipFile(io.BytesIO(b"".join(answer))) as archive:
        return {
            part.removesuffix(".jsonl"): [json.loads(line) for line in archive.read(part).splitlines()]
            for part in archive.namelist()
        }


def test_it_has_all_of_ones_own(world: JudgingWorld) -> None:
    data = data_of(world, "ann")
    assert set(data) == set(PARTS)
    assert data["account"][0]["username"] == "ann"
    river = {"campaign__slug": "river", "campaign__name": "River study", "role": "assessor", "languages": ""}
    assert data["campaigns"] == [river]
    assert {task["stage"] for task in data["tasks"]} == {"support-scratch", "assign"}
    assert {row["label"] for row in data["labels"]} == {1, 2}
    assert [row["text"] for row in data["remarks"]] == ["Ann's own words"]
    assert len(data["submissions"]) == 2
    assert {row["kind"] for row in data["events"]} >= {"task.opened", "task.submitted"}


def test_it_has_nothing_of_others_and_no_run(world: JudgingWorld) -> None:
    text = json.dumps(data_of(world, "ann"))
    assert [secret for secret in SECRETS if f'"{secret}"' in text or f" {secret}" in text] == []
    assert [run for run in Run.objects.values_list("run_id", flat=True) if run in text] == []
    hidden = {str(pk) for pk in Answer.objects.values_list("pk", flat=True)}
    ids = {row.get("answer__public_id") for row in data_of(world, "ann")["labels"]}
    assert ids.isdisjoint(hidden)


def test_an_assessors_file_leads_to_no_topic_of_the_track(world: JudgingWorld) -> None:
    tasks = data_of(world, "ann")["tasks"]
    hidden = {"topic__topic_id", "priority", "expected_minutes", "created_at"}
    assert all(hidden.isdisjoint(task) for task in tasks)
    topics = set(Topic.objects.values_list("topic_id", flat=True))
    assert topics.isdisjoint(value for task in tasks for value in task.values() if isinstance(value, str))


def test_a_session_alone_takes_no_data_away(world: JudgingWorld) -> None:
    client = Client()
    client.force_login(world.people["ann"])
    for response in (client.get("/your-data/"), client.post("/your-data/")):
        assert response["Location"].startswith("/accounts/reauthenticate/")


@pytest.mark.slow
def test_each_gets_their_own(world: JudgingWorld) -> None:
    data = data_of(world, "ben")
    assert {row["label"] for row in data["labels"]} == {0}
    assert data["remarks"] == []
    assert "ann" not in json.dumps(data)


@pytest.mark.slow
def test_who_has_done_nothing_gets_their_account(world: JudgingWorld) -> None:
    data = data_of(world, "sam")
    assert data["account"][0]["email"] == "sam@example.org"
    assert [name for name, rows in data.items() if rows] == ["account"]


@pytest.mark.slow
def test_the_page_says_what_there_is(world: JudgingWorld) -> None:
    page = confirmed("ann").get("/your-data/").content.decode()
    for part in PARTS:
        assert part in page
    assert Client().post("/your-data/").status_code == 403
