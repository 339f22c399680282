"""Models that refuse a temperature: parameters are left out or given, in browser and command, and a refusal says so."""

import json
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.errors import Refused
from evaluation.judges import add_judge
from evaluation.models import Judge
from evaluation.terms import JudgeKind
from llmjobs.client import CallRefusal, Endpoint, send
from llmjobs.connections import FAULTS, _fault_of
from llmjobs.engine.calls import NewCall
from llmjobs.engine.send import probe_call
from llmjobs.prompt_store import Parameters, add_llm_judge, way_of
from llmjobs.steps.single import support
from tests.llmjobs.test_client import REQUEST, Canned, canned
from tests.organizer.judges.conftest import JUDGES, page
from tests.organizer.judges.test_judges_page import NEW_JUDGE, make

__all__ = ["canned"]

GIVEN = {"temperature": "none", "reasoning_effort": "low", "max_completion_tokens": "4000"}
SENT = {"reasoning_effort": "low", "max_completion_tokens": 4000}
REFUSED = (
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."
)


def call_by(judge: Judge) -> NewCall:
    ask = next(support("so", "a text", way_of(judge).templates["support"]))
    return NewCall(ask, Endpoint(), judge.model, 0)


@pytest.mark.django_db
def test_a_command_leaves_the_temperature_out() -> None:
    options = ["--temperature", "none", "--reasoning-effort", "low", "--max-completion-tokens", "4000"]
    call_command("add_judge", "thinker", "--by", "llm", "--model", "gpt-5", *options)
    judge = Judge.objects.get(name="thinker")
    assert judge.prompt_versions == GIVEN
    assert call_by(judge).parameters == SENT
    assert probe_call(call_by(judge)).parameters == SENT


def test_a_browser_leaves_the_temperature_out(olga: Client) -> None:
    made = make(olga, temperature="", reasoning_effort="low", max_completion_tokens="4000")
    assert "Made: strict." in made
    judge = Judge.objects.get(name="strict")
    assert judge.prompt_versions == GIVEN
    shown = page(olga, JUDGES)
    for words in ("no temperature", "reasoning low", "4000 tokens a reply"):
        assert words in shown
    begun = page(olga, f"{NEW_JUDGE}?like=strict")
    assert '<option value="low" selected>' in begun
    assert 'value="4000"' in begun
    assert "nothing was changed" in make(
        olga, temperature="", reasoning_effort="low", max_completion_tokens="4000"
    )


@pytest.mark.django_db
def test_a_limit_of_words_is_the_judge_s_and_is_not_sent() -> None:
    call_command("add_judge", "brief", "--by", "llm", "--model", "m", "--passage-words", "800")
    judge = Judge.objects.get(name="brief")
    assert judge.prompt_versions == {"passage_words": "800"}
    assert way_of(judge).passage_words == 800
    assert call_by(judge).parameters == {"temperature": 0.0}


@pytest.mark.django_db
def test_calls_with_the_parameters_of_before_stay_the_same_calls() -> None:
    plain, _ = add_judge(name="plain", kind=JudgeKind.LLM, model="m")
    warm, _ = add_llm_judge(name="warm", model="m", parameters=Parameters(0.5))
    none, _ = add_llm_judge(name="none", model="m", parameters=Parameters(None))
    assert call_by(plain).parameters == {"temperature": 0.0}
    assert call_by(warm).parameters == {"temperature": 0.5}
    assert call_by(none).parameters == {}
    assert len({call_by(judge).sha256 for judge in (plain, warm, none)}) == 3


@pytest.mark.parametrize(
    ("parameters", "sent"), [({}, {"temperature": 0.0}), ({"temperature": None, **SENT}, SENT)]
)
def test_only_what_is_given_is_sent(canned: Canned, parameters: dict[str, Any], sent: dict[str, Any]) -> None:
    send(canned.answers(200, {}, b"{}"), replace(REQUEST, **parameters))
    body = json.loads(canned.requests[0][2])
    assert {name: value for name, value in body.items() if name not in ("model", "messages")} == sent


@pytest.mark.parametrize("values", [(3.0, "", None), (-1.0, "", None), (0.0, "much", None), (0.0, "", 0)])
def test_a_value_that_no_model_takes_is_refused(values: tuple[Any, ...]) -> None:
    with pytest.raises(Refused):
        Parameters(*values)


@pytest.mark.parametrize("param", ["temperature", None])
def test_a_refusal_that_names_a_parameter_has_its_remedy(canned: Canned, param: str | None) -> None:
    body = json.dumps({"error": {"message": REFUSED, "param": param}}).encode()
    refusal = send(canned.answers(400, {}, body), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert refusal.message.startswith(
        "The model refuses the parameter temperature; use a judge that leaves it out"
    )
    fault = FAULTS[_fault_of(refusal, "gpt-5")]
    assert "leave Temperature empty" in fault.remedy
    other = send(canned.answers(400, {}, b'{"error": {"message": "No such thing"}}'), REQUEST)
    assert isinstance(other, CallRefusal)
    assert not other.message.startswith("The model refuses")
