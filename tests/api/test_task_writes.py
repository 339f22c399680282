"""Organizers' programs hand out work and change it; people are called by their pseudonyms."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.campaigns.pseudonyms import pseudonym_of
from evaluation.models import Event, Task
from evaluation.terms import TaskState
from tests.api.writing import Program, program_of
from tests.worlds.cast import make_campaign
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = pytest.mark.django_db
ORDER = {"campaign": "river", "stage": "manual", "topics": ["t3"]}
PEOPLE = ("ann", "ben", "olga")


@pytest.fixture
def world(tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path)


@pytest.fixture
def olga(world: DeskWorld) -> Program:
    return program_of(world.people["olga"])


def who(world: DeskWorld, name: str) -> str:
    return pseudonym_of(world.campaign, world.people[name].pk)


def act(program: Program, task: Task, change: str, body: object = None, **headers: str) -> Any:
    return program.post(f"/tasks/{task.public_id}/{change}/", body or {}, **headers)


def test_a_plan_is_shown_and_then_done_as_shown(olga: Program, world: DeskWorld) -> None:
    order = ORDER | {"topics": ["t3", "t4"], "assessor": who(world, "ben"), "priority": 1, "due": "2027-01-31"}
    plan = olga.post("/tasks/?dry_run=true", order)
    assert plan.status_code == 200
    assert [(entry["topic_id"], entry["assessor"]) for entry in plan.json()["given"]] == [
        ("t3", who(world, "ben"))
    ]
    assert [entry["topic_id"] for entry in plan.json()["left_out"]] == ["t4"]
    assert Task.objects.count() == 2
    done = olga.post("/tasks/", order | {"expect": plan.json()["key"]})
    assert done.status_code == 201
    task = Task.objects.get(public_id=done.json()["tasks"][0])
    assert (task.assessor.username, task.priority, str(task.due)) == ("ben", 1, "2027-01-31")
    assert olga.get(f"/tasks/{task.public_id}/").json()["assessor"] == who(world, "ben")
    second = olga.post("/tasks/", order | {"expect": plan.json()["key"]})
    assert (second.status_code, second.json()["code"]) == (422, "changed")


def test_people_are_named_by_user_name_too_and_answered_by_pseudonym(olga: Program, world: DeskWorld) -> None:
    plan = olga.post("/tasks/?dry_run=1", ORDER | {"assessor": "ben"})
    assert plan.json()["given"][0]["assessor"] == who(world, "ben")
    taken = olga.post("/tasks/", ORDER | {"topics": ["t2"], "assessor": "ben"})
    assert taken.status_code == 422
    bodies = [plan.content.decode(), taken.content.decode()]
    assert not [name for name in PEOPLE for body in bodies if name in body.lower()]
    assert who(world, "ann") in bodies[1]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"topics": ["t9"]}, "topics"),
        ({"topics": []}, "topics"),
        ({"assessor": "sam"}, "assessor"),
        ({"assessor": "nobody"}, "assessor"),
        ({"stage": "guess"}, "stage"),
        ({"due": 5}, "due"),
        ({"priority": 99}, "priority"),
        ({"origin": "draft"}, "origin"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(olga: Program, more: dict[str, object], named: str) -> None:
    response = olga.post("/tasks/", ORDER | more)
    assert response.status_code == 400
    assert [error for error in response.json()["errors"] if error.startswith(named)]
    assert Task.objects.count() == 2


def test_a_task_is_blocked_unblocked_rescheduled_and_withdrawn(olga: Program, world: DeskWorld) -> None:
    task = world.manual
    assert act(olga, task, "block", {"reason": "Texts are missing."}).json()["state"] == "blocked"
    assert act(olga, task, "unblock").json()["state"] == "not started"
    moved = act(olga, task, "reschedule", {"due": "2027-01-31", "priority": 2}).json()
    assert (moved["due"], moved["priority"]) == ("2027-01-31", 2)
    assert act(olga, task, "reopen", {"reason": "More."}).status_code == 422
    assert act(olga, task, "withdraw", {"reason": ""}).json()["code"] == "no_reason"
    assert act(olga, task, "withdraw", {"reason": "Enough."}).json()["state"] == "withdrawn"
    kinds = Event.objects.filter(kind__startswith="task.", payload__task=task.public_id).order_by("pk")
    assert list(kinds.values_list("kind", flat=True)) == [
        *("task.handed_out", "task.blocked", "task.unblocked", "task.rescheduled", "task.withdrawn")
    ]


def test_a_change_is_refused_where_somebody_was_faster(olga: Program, world: DeskWorld) -> None:
    task = world.manual
    known = olga.get(f"/tasks/{task.public_id}/")["ETag"]
    Task.objects.filter(pk=task.pk).update(state=TaskState.SUBMITTED)
    late = olga.post(f"/tasks/{task.public_id}/withdraw/", {"reason": "Too late?"}, If_Match=known)
    assert (late.status_code, late.json()["code"]) == (412, "changed")
    task.refresh_from_db()
    assert task.state == TaskState.SUBMITTED
    now = olga.get(f"/tasks/{task.public_id}/")["ETag"]
    done = olga.post(f"/tasks/{task.public_id}/withdraw/", {"reason": "It does not count."}, If_Match=now)
    assert done.status_code == 200
    assert done["ETag"] == olga.get(f"/tasks/{task.public_id}/")["ETag"] != now


def test_a_topic_is_given_to_somebody_else(olga: Program, world: DeskWorld) -> None:
    body = {"assessor": who(world, "ben"), "reason": "Ann is away."}
    response = olga.post(f"/tasks/{world.manual.public_id}/reassign/", body)
    assert response.status_code == 201
    assert response.json()["assessor"] == who(world, "ben")
    assert olga.get(response["Location"].removeprefix("/api/v1")).json() == response.json()
    world.manual.refresh_from_db()
    assert world.manual.state == TaskState.WITHDRAWN
    same = olga.post(f"/tasks/{response.json()['id']}/reassign/", body)
    assert same.status_code == 422
    assert "ben" not in same.json()["detail"].lower()


def test_several_tasks_are_changed_at_once(olga: Program, world: DeskWorld) -> None:
    Task.objects.filter(pk=world.manual.pk).update(state=TaskState.SUBMITTED)
    ids = [world.post_edit.public_id, world.manual.public_id]
    body = {"campaign": "river", "change": "block", "tasks": ids, "reason": "Wait."}
    tried = olga.post("/task-changes/?dry_run=true", body).json()
    assert tried["changed"] == ids[:1]
    assert [entry["task"] for entry in tried["left"]] == ids[1:]
    assert Task.objects.filter(state=TaskState.BLOCKED).count() == 0
    assert olga.post("/task-changes/", body).json() == tried
    assert Task.objects.get(state=TaskState.BLOCKED) == world.post_edit
    other = olga.post("/task-changes/", body | {"tasks": ["nothing"]})
    assert other.status_code == 422


def test_readers_change_nothing_and_others_find_nothing(world: DeskWorld) -> None:
    make_campaign("lake", "Lakes")
    for name, status in {"rita": 403, "audrey": 403, "ann": 404, "ben": 404, "sam": 404}.items():
        program = program_of(world.people[name])
        assert program.post("/tasks/", ORDER).status_code == status
        assert program.post(f"/tasks/{world.manual.public_id}/block/", {"reason": "?"}).status_code == status
        assert program.post("/tasks/", ORDER | {"campaign": "lake"}).status_code == 404
    assert not Task.objects.exclude(state=TaskState.NOT_STARTED).exists()
    assert Task.objects.count() == 2
