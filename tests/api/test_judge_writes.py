"""Organizers' programs make LLM judges, as the page and the command do."""

from pathlib import Path

import pytest

from evaluation.models import Event, Judge
from llmjobs.models import Connection
from llmjobs.prompt_store import parameters_of
from tests.api.writing import Program, program_of
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = pytest.mark.django_db
REASONER = {
    "campaign": "river",
    "name": "o3",
    "temperature": None,
    "reasoning_effort": "high",
    "max_completion_tokens": 4000,
}


@pytest.fixture
def world(tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path)


@pytest.fixture
def olga(world: DeskWorld) -> Program:
    return program_of(world.people["olga"])


def test_a_judge_leaves_temperature_out_and_reasons(olga: Program) -> None:
    made = olga.post("/judges/", REASONER)
    assert made.status_code == 201, made.content
    judge = Judge.objects.get(name="o3")
    parameters = (None, (("reasoning_effort", "high"), ("max_completion_tokens", 4000)))
    assert parameters_of(judge.prompt_versions) == parameters
    assert made.json() == {"name": "o3", "model": judge.model, "prompt_versions": judge.prompt_versions}
    assert Event.objects.get(kind="judge.made").actor_id is not None
    again = olga.post("/judges/", REASONER)
    assert (again.status_code, again.json()) == (200, made.json())
    assert olga.post("/judges/", REASONER | {"reasoning_effort": "low"}).json()["name"] == "o3@2"
    order = {"campaign": "river", "work": "drafts", "judge": "o3", "topics": ["t2"]}
    job = olga.post("/jobs/", order)
    assert (job.status_code, job.json()["judge"]) == (201, "o3")


def test_a_limit_of_words_makes_another_version(olga: Program) -> None:
    assert olga.post("/judges/", REASONER).json()["name"] == "o3"
    limited = olga.post("/judges/", REASONER | {"passage_words": 800}).json()
    assert (limited["name"], limited["prompt_versions"]["passage_words"]) == ("o3@2", "800")


def test_a_judge_has_the_model_of_a_connection(olga: Program, world: DeskWorld) -> None:
    Connection.objects.create(name="mine", version=1, endpoint="default", model="m9", made_by=world.people["olga"])
    made = olga.post("/judges/", REASONER | {"connection": "mine"})
    assert made.status_code == 201, made.content
    assert made.json()["model"] == "m9"


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"temperature": 3}, "temperature"),
        ({"max_completion_tokens": 0}, "max_completion_tokens"),
        ({"passage_words": 0}, "passage_words"),
        ({"connection": "nobody's"}, "connection"),
        ({"prompts": {"assign": "nothing@1"}}, "prompts.assign"),
        ({"prompts": {"cook": "assign@1"}}, "prompts.cook"),
        ({"base_url": "http://127.0.0.1:9/v1"}, "base_url"),
    ],
)
def test_what_no_judge_has_is_refused(olga: Program, more: dict[str, object], named: str) -> None:
    response = olga.post("/judges/", REASONER | more)
    assert response.status_code == 400
    assert any(key.startswith(named) for key in response.json()["errors"]), response.json()
    assert not Judge.objects.filter(name="o3").exists()


def test_an_effort_that_no_model_knows_is_refused(olga: Program) -> None:
    response = olga.post("/judges/", REASONER | {"reasoning_effort": "very"})
    assert response.status_code == 422
    assert "reasoning effort: one of none, minimal" in response.json()["detail"]
    assert not Judge.objects.filter(name="o3").exists()
