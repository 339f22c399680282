"""Why does it say partial? The API tells what stands behind each label, to whoever may see it and to nobody else."""

from decimal import Decimal
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft4Validator  # type: ignore[import-untyped]

from evaluation.models import Assignment, Campaign, ListedNugget, Membership, Qrel, SupportJudgment
from evaluation.terms import Role
from jobs.models import WorkItem
from llmjobs.models import Call, CallUse, LlmJob, NuggetCalls
from tests.api.conftest import program_of
from tests.api.reading import Program
from tests.api.test_schema import nullable
from tests.worlds.campaign import World
from tests.worlds.jobs import MODEL, label_by, make_call, make_item, make_job, make_judge, support_by, verdict_by


@pytest.fixture
def call(world: World) -> Call:
    llm = make_job(world)
    LlmJob.objects.filter(pk=llm.pk).update(
        price_table="2026-11", currency="EUR", prompt_price=Decimal(2), completion_price=Decimal(10)
    )
    return make_call(make_item(llm, "1", WorkItem.State.DONE))


def behind(program: Program, kind: str, pk: int) -> Any:
    return program.json(f"{kind}/{pk}/provenance")


def test_a_label_tells_the_whole_call(olga: Program, call: Call) -> None:
    label = label_by(call, make_judge())
    found = behind(olga, "assignments", label.pk)
    assert (found["collection"], found["behind"]) == ("assignments", "call")
    assert found["row"] == olga.json(f"assignments/{label.pk}")
    assert found["event"]["kind"] == "llm.call"
    (entry,) = found["calls"]
    assert entry["gave"] == "label"
    for name, value in {
        "template": "assign",
        "template_version": 7,
        "template_sha256": "f" * 64,
        "sha256": "a" * 64,
        "base_url": "http://llm.example/v1",
        "model": "some-model",
        "model_answered": MODEL,
        "parameters": {"temperature": 0.0},
        "seed": None,
        "reply": '["partial_support"]',
        "prompt_tokens": 1234,
        "completion_tokens": 5,
        "latency_ms": 200,
    }.items():
        assert entry[name] == value, name
    assert entry["messages"][0]["content"] == "Label <b>each</b> nugget. שלום"
    assert [attempt["error"] for attempt in entry["attempts"]] == ["rate_limited", ""]
    assert entry["attempts"][0]["message"] == "Slow down."
    assert entry["uses"][0]["notes"] == ["tolerated: a code fence"]
    assert [question["part"] for question in entry["questions"]] == ["batch 1 of 1"]
    cost = entry["cost"]
    assert (cost["currency"], cost["price_table"], cost["reused"]) == ("EUR", "2026-11", False)
    assert Decimal(cost["amount"]) == Decimal("0.002518")


def test_every_kind_of_label_has_its_calls(olga: Program, call: Call, world: World) -> None:
    support = support_by(call, make_judge())
    nugget = ListedNugget.objects.order_by("pk")[0]
    weighed = make_call(make_item(make_job(world), "2"), name="b" * 64)
    NuggetCalls.objects.create(listed=nugget, worded=call, weighed=weighed)
    grade = Qrel.objects.order_by("pk")[0]
    Qrel.objects.filter(pk=grade.pk).update(event=call.event)
    rows = {"support-judgments": support.pk, "nuggets": nugget.pk, "grades": grade.pk}
    rows |= {"verdicts": verdict_by(call, make_judge()).pk}
    gave = {
        kind: [(entry["gave"], entry["sha256"][0]) for entry in behind(olga, kind, pk)["calls"]]
        for kind, pk in rows.items()
    }
    assert gave == {
        "support-judgments": [("label", "a")],
        "nuggets": [("wording", "a"), ("importance", "b")],
        "grades": [("label", "a")],
        "verdicts": [("label", "a")],
    }


def test_an_imported_label_tells_its_file(olga: Program, world: World) -> None:
    label = Assignment.objects.filter(judge__name="robot")[0]
    found = behind(olga, "assignments", label.pk)
    assert (found["behind"], found["calls"]) == ("file", [])
    assert found["event"]["files"][0]["name"] == "robot.jsonl"


def test_what_an_item_asked_before_is_told(olga: Program, call: Call) -> None:
    label = label_by(call, make_judge())
    item = CallUse.objects.get().item
    first = make_call(item, name="b" * 64, number=1)
    CallUse.objects.filter(call=first).update(part="batch 1 of 1, re-ask 1", notes=["wrong: three labels for two"])
    questions = behind(olga, "assignments", label.pk)["calls"][0]["questions"]
    assert [(question["call"][0], question["notes"]) for question in questions] == [
        ("a", ["tolerated: a code fence"]),
        ("b", ["wrong: three labels for two"]),
    ]


def test_it_is_what_the_schema_says(olga: Program, call: Call) -> None:
    label = label_by(call, make_judge())
    made: Any = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    answers = made["paths"]["/api/v1/assignments/{id}/provenance/"]["get"]["responses"]
    shape = nullable(answers["200"]["content"]["application/json"]["schema"] | {"components": made["components"]})
    Draft4Validator(shape).validate(behind(olga, "assignments", label.pk))


def test_who_may_not_see_the_label_is_told_what_a_missing_one_tells(world: World, call: Call) -> None:
    label = label_by(call, make_judge())
    support = SupportJudgment.objects.get()
    for name in ("ann", "sam"):
        program = program_of(world, name)
        program.get("runs")  # the token's first use is noted
        for theirs, nothing in (
            (f"assignments/{label.pk}/provenance", "assignments/999999/provenance"),
            (f"support-judgments/{support.pk}/provenance", "support-judgments/999999/provenance"),
        ):
            assert program.problem(theirs, 404) == program.problem(nothing, 404)
            assert program.queries(theirs) == program.queries(nothing)
    program_of(world, "rita").json(f"assignments/{label.pk}/provenance")
    assert program_of(world, "olga", ("write",)).problem(f"assignments/{label.pk}/provenance", 403)


def test_an_organizer_who_assesses_is_told_nothing(world: World, call: Call) -> None:
    label = label_by(call, make_judge())
    Membership.objects.create(campaign=world.campaign, user=world.people["olga"], role=Role.ASSESSOR)
    program_of(world, "olga").problem(f"assignments/{label.pk}/provenance", 404)


def test_people_go_by_their_pseudonyms(olga: Program, world: World) -> None:
    label = SupportJudgment.objects.get()
    assert label.event
    event = type(label.event).objects.create(campaign=world.campaign, kind="submitted", actor=world.people["ann"])
    SupportJudgment.objects.filter(pk=label.pk).update(event=event)
    found = behind(olga, "support-judgments", label.pk)
    assert found["behind"] == "person"
    assert found["event"]["actor"]
    assert "ann" not in found["event"]["actor"].lower()


def test_uses_by_another_campaigns_jobs_are_not_told(olga: Program, world: World, call: Call) -> None:
    label = label_by(call, make_judge())
    other = Campaign.objects.create(slug="other", name="Other")
    theirs = make_job(World(other, world.people))
    CallUse.objects.create(item=make_item(theirs, "1"), call=call, number=0, part="canary")
    assert "canary" not in str(behind(olga, "assignments", label.pk))


def test_the_endpoints_key_is_nowhere(olga: Program, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    label = label_by(call, make_judge())
    assert "canary" not in str(behind(olga, "assignments", label.pk))
