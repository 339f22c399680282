"""Organizers' programs have an LLM judge: they see the cost first, start, cancel, retry."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.battles import BattleOrder, draw_battles
from evaluation.models import Event, Run
from evaluation.rules.battles import Orders
from jobs.models import Job, WorkItem
from tests.api.writing import Program, program_of
from tests.worlds.cast import make_user
from tests.worlds.desk import DeskWorld, make_desk_world
from tests.worlds.llm import answer_with

pytestmark = pytest.mark.django_db
ORDER = {"campaign": "river", "work": "drafts", "topics": ["t2", "t3"]}


@pytest.fixture
def world(tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path)


@pytest.fixture
def olga(world: DeskWorld) -> Program:
    return program_of(world.people["olga"])


def started(program: Program, **headers: str) -> Any:
    response = program.post("/jobs/", ORDER, **headers)
    assert response.status_code == 201, response.content
    return response


def test_the_cost_is_said_and_nothing_is_started(olga: Program) -> None:
    estimate = olga.post("/jobs/?dry_run=true", ORDER)
    assert estimate.status_code == 200
    assert estimate.json()["items"] == 2
    assert estimate.json()["calls"] >= 2
    assert not Job.objects.exists()


def test_a_job_is_started_cancelled_and_never_twice(olga: Program) -> None:
    first, repeated = started(olga, Idempotency_Key="k1"), started(olga, Idempotency_Key="k1")
    assert first.json() == repeated.json() == olga.get(f"/jobs/{first.json()['id']}/").json()
    job = Job.objects.get()
    assert job.made_by is not None
    assert job.made_by.username == "olga"
    assert "olga" not in first.content.decode()
    cancelled = olga.post(f"/jobs/{job.pk}/cancel/")
    assert cancelled.json()["state"] == "cancelled"
    assert olga.post(f"/jobs/{job.pk}/cancel/").json()["code"] == "job_ended"
    assert Event.objects.filter(kind="job.cancelled", actor__username="olga").count() == 1


def test_a_job_has_a_budget_pauses_and_goes_on(olga: Program) -> None:
    estimate = olga.post("/jobs/?dry_run=true", ORDER).json()
    assert (estimate["calls_to_pay"], estimate["cost"], estimate["seconds"]) == (estimate["calls"], "0", None)
    order = ORDER | {"max_requests": 7, "max_money": "1.5", "priority": 3}
    job = olga.post("/jobs/", order).json()
    assert (job["max_requests"], job["max_tokens"], job["max_money"]) == (7, None, "1.5000")
    assert (job["priority"], job["requests"], job["price_table"]) == (3, 0, "2025-08")
    address = f"/jobs/{job['id']}"
    assert olga.post(f"{address}/pause/").json()["state"] == "paused"
    assert olga.post(f"{address}/pause/").json()["code"] == "not_running"
    assert olga.post(f"{address}/resume/", {"max_money": "none"}).status_code == 400
    resumed = olga.post(f"{address}/resume/", {"max_tokens": 1000}).json()
    assert (resumed["state"], resumed["max_requests"], resumed["max_tokens"]) == ("running", None, 1000)
    assert olga.post(f"{address}/resume/", {}).json()["code"] == "not_paused"


def test_what_failed_is_queued_again(olga: Program) -> None:
    job = started(olga).json()["id"]
    assert olga.post(f"/jobs/{job}/retry/").json()["code"] == "none_failed"
    WorkItem.objects.update(state=WorkItem.State.FAILED, ended_at="2026-01-01T00:00Z")
    assert olga.post(f"/jobs/{job}/retry/").status_code == 200
    assert WorkItem.objects.filter(state=WorkItem.State.QUEUED).count() == 2


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"work": "E/M"}, 400),
        ({"judge": "ann"}, 400),
        ({"judge": "nobody"}, 400),
        ({"topics": ["t9"]}, 422),
        ({"qrels": "nobody"}, 422),
        ({"topics": ["t4"]}, 422),
    ],
)
def test_a_job_that_makes_no_sense_is_refused(olga: Program, more: dict[str, object], status: int) -> None:
    assert olga.post("/jobs/", ORDER | more).status_code == status
    assert not Job.objects.exists()


def test_others_start_and_change_no_job(world: DeskWorld, olga: Program) -> None:
    job = started(olga).json()["id"]
    world.people["zoe"] = make_user("zoe")
    for name, status in {"rita": 403, "ann": 404, "zoe": 404}.items():
        program = program_of(world.people[name])
        assert program.post("/jobs/", ORDER).status_code == status
        assert program.post(f"/jobs/{job}/cancel/").status_code == status
    assert Job.objects.get().state == "running"


def test_battles_are_judged_in_the_orders_that_are_asked_for(world: DeskWorld, olga: Program) -> None:
    order = {"campaign": "river", "work": "battle", "orders": "one"}
    assert olga.post("/jobs/?dry_run=true", order).json()["code"] == "no_such_set"
    for name in ("one", "two", "three"):
        run = Run.objects.create(campaign=world.campaign, run_id=name, event=Event.objects.all()[0])
        answer_with(world.post_edit.topic, run, f"It is {name}.")
    draw = draw_battles(campaign=world.campaign, order=BattleOrder(name="side by side", topics=("t1",)))
    assert draw.battles == 3
    estimates = {
        orders: olga.post("/jobs/?dry_run=true", order | {"set": "side by side", "orders": orders}).json()["items"]
        for orders in Orders
    }
    assert estimates == {"one": draw.battles, "fifth": 2 * draw.battles, "both": 2 * draw.battles}
    assert olga.post("/jobs/", order | {"orders": "some"}).status_code == 400
    assert olga.post("/jobs/", order | {"set": "other"}).json()["code"] == "no_such_set"
    job = olga.post("/jobs/", order)
    assert (job.status_code, job.json()["title"]) == (201, "Compare answers")
    assert WorkItem.objects.count() == draw.battles
