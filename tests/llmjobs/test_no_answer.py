"""A reply that was cut, refused or only thinks aloud is never data; odd envelopes around a whole reply cost nothing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from evaluation.labels import BattleLabel, SupportLabel
from llmjobs.client import CallRefusal, Completion, close_clients, send
from llmjobs.prompts.template import Template
from llmjobs.prompts.texts import ASSIGN, BATTLE, NUGGETIZE, RELEVANCE, SUPPORT
from llmjobs.steps.asking import LlmReply
from llmjobs.steps.assign import assign
from llmjobs.steps.nuggetize import DraftsInput, ImportanceInput, importance, over_generated_drafts
from llmjobs.steps.parsing import Parsed, ReplyProblem, parse_label, parse_labels, parse_nuggets
from llmjobs.steps.single import battle, relevance, support
from tests.llmjobs.steps.scripted import play_with
from tests.llmjobs.test_client import REQUEST, Canned, canned

__all__ = ["canned"]

STRUCTURED = [False, True]
LABELS = ("full_support", "partial_support", "no_support")


@pytest.fixture(autouse=True)
def _closed_clients() -> Iterator[None]:
    yield
    close_clients()


def template_of(template: Template, structured: bool) -> Template:
    return Template(
        *(template.task, template.name, template.version, template.system, template.user), structured=structured
    )


def outcomes(reply: LlmReply, structured: bool) -> dict[str, tuple[Any, str]]:
    """What each kind of job makes of endless replies of this kind: its data, and its failure."""
    drafts, _ = play_with(
        over_generated_drafts(DraftsInput("why", ("a", "b"), template=template_of(NUGGETIZE, structured))),
        lambda _: reply,
    )
    assigned, _ = play_with(
        assign("why", "an answer", ("one", "two"), template=template_of(ASSIGN, structured)), lambda _: reply
    )
    weighed, _ = play_with(importance(ImportanceInput("why", ("one", "two"))), lambda _: reply)
    graded, _ = play_with(relevance("why", "a text", template=template_of(RELEVANCE, structured)), lambda _: reply)
    supported, _ = play_with(support("so", "a text", template_of(SUPPORT, structured)), lambda _: reply)
    compared, _ = play_with(battle("why", "l", "r", template=template_of(BATTLE, structured)), lambda _: reply)
    return {
        "drafts": (drafts.drafts, drafts.failure),
        "assign": (
            [label.label.name for label in assigned.labels if label.label.name != "FAILED"],
            assigned.failure,
        ),
        "importance": ([label for label in weighed.importances if label.name != "UNKNOWN"], weighed.failure),
        "relevance": (graded.grade, graded.failure),
        "support": (None if supported.label is SupportLabel.FAILED else supported.label, supported.failure),
        "battle": (None if compared.label is BattleLabel.FAILED else compared.label, compared.failure),
    }


PLAN = "We need a list of nuggets. Plan:\n1. Read the segments carefully\n2. Extract atomic facts\n3. Merge dupl"
THOUGHT_LABEL = (
    "First I compare with the definition of\n\nfull_support\n\nand then look whether it says so. The pas"
)
SCALE = "Let me go through the scale:\n0:"
SORRY = "I'm sorry, but I can't help with this because:\n\n- It may reveal private data\n- It may be harmful"


@pytest.mark.parametrize("structured", STRUCTURED)
@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        (PLAN, "length", "cut off"),
        (THOUGHT_LABEL, "length", "cut off"),
        (SCALE, "max_tokens", "cut off"),
        ("full_support", "MAX_TOKENS", "cut off"),
        ("2", "length", "cut off"),
        ("1. vital\n2. okay", "model_length", "cut off"),
        ('{"nuggets": ["a", "b', "length", "cut off"),
        ("full_support", "content_filter", "refused"),
        ("2", "refusal", "refused"),
        ('["support", "support"]', "SAFETY", "refused"),
        (SORRY, "stop", ""),
        (SORRY.replace("'", "\u2019"), "", ""),
        ("I cannot assist with that.\n\n1. It is private\n2. It is harmful", "stop", "refused"),
        ("Es tut mir leid, das geht nicht:\n- Es ist privat\n- Es ist falsch", "stop", ""),
        (PLAN, "stop", ""),
        (THOUGHT_LABEL, "", ""),
        (SCALE, "stop", ""),
        ('<think>Perhaps ["a", "b"]\n\nno_support\n\n2', "stop", "ends before its answer"),
        ('Perhaps ["a", "b"]\n\nno_support\n</think>', "stop", "ends before its answer"),
        ('Hm. [THINK]["support", "support"]\n1', "stop", "ends before its answer"),
        ("<|channel|>analysis<|message|>Perhaps\n\nfull_support", "stop", "ends before its answer"),
        ('<|channel>thought\n["a", "b"]', "stop", "ends before its answer"),
        ('analysisWe could say ["vital", "okay"]', "stop", "ends before its answer"),
        ("Thinking Process:\n1. vital\n2. okay", "stop", ""),
    ],
)
def test_no_kind_of_job_takes_data_from_it(text: str, finish: str, reason: str, structured: bool) -> None:
    for kind, (data, failure) in outcomes(LlmReply(text, finish=finish), structured).items():
        assert not data, kind
        assert data != 0, kind
        assert reason in failure, kind
        assert failure, kind


@pytest.mark.parametrize("finish", ["length", "max_tokens"])
def test_one_closed_list_or_object_in_a_cut_reply_counts(finish: str) -> None:
    def drafts(text: str) -> list[str]:
        step = over_generated_drafts(DraftsInput("why", ("a",), template=template_of(NUGGETIZE, structured=True)))
        outcome, _ = play_with(step, lambda _: LlmReply(text, finish=finish))
        return [draft.text for draft in outcome.drafts]

    assert drafts('["$x_{1}$ rises", "b"]\n\nI chose these bec') == ["$x_{1}$ rises", "b"]
    assert drafts('{"nuggets": ["a", "b"]}\n\n\n\n') == ["a", "b"]
    assert drafts('["a"] or else ["b"] or') == []
    step = support("so", "a text", template_of(SUPPORT, structured=True))
    outcome, _ = play_with(step, lambda _: LlmReply('{"label": "no_support"}\nThe pass', finish=finish))
    assert outcome.label is SupportLabel.NO_SUPPORT


@pytest.mark.parametrize("structured", STRUCTURED)
def test_a_word_in_brackets_is_no_answer_of_a_cut_reply(structured: bool) -> None:
    cut = (
        "Assistant [A] says more, but",
        "I might say [[A]], and yet",
        "If [no_support] were",
        "Perhaps [left]: the",
    )
    for text in cut:
        failures = outcomes(LlmReply(text, finish="length"), structured)
        assert {failures[kind] for kind in ("support", "battle")} == {(None, "the reply was cut off")}


def test_a_cut_reply_is_asked_again() -> None:
    replies = iter([LlmReply("full_support", finish="length"), LlmReply("no_support", finish="stop")])
    outcome, asks = play_with(support("so", "a text"), lambda _: next(replies))
    assert outcome.label is SupportLabel.NO_SUPPORT
    assert "the reply was cut off" in asks[1].messages[-1].content


@pytest.mark.parametrize(
    "reply",
    [
        "<think>full_support? Or\n\nno_support</think>partial_support",
        "<thinking>no_support</thinking>\npartial_support",
        "[THINK]no_support[/THINK]partial_support",
        "<|channel|>analysis<|message|>no_support<|end|><|start|>assistant<|channel|>final<|message|>partial_support"
        "<|return|>",
        "<|channel>thought\nno_support<channel|>partial_support",
        "analysisIt may be no_support.assistantfinalpartial_support",
        "partial_support<|im_end|>",
        "My judgment:\n\npartial_support\n\nThe passage names the king only.",
    ],
)
def test_the_answer_behind_the_reasoning_is_read(reply: str) -> None:
    result = parse_label(reply, LABELS)
    assert isinstance(result, Parsed)
    assert result.items == ("partial_support",)


@pytest.mark.parametrize(
    "reply",
    [
        "- a\n- b",
        "1. a\n2. b\n",
        "Here is the updated list of nuggets:\n1. a\n2. b",
        "Sure! Here are the nuggets:\n\n- a\n- b",
        "**Nuggets**\n- a\n- b",
        "## Updated nugget list\n\n* a\n* b",
    ],
)
def test_lines_are_a_list_where_the_reply_is_nothing_else(reply: str) -> None:
    assert parse_nuggets(reply, 9) == parse_nuggets(reply, 9)
    result = parse_nuggets(reply, 9)
    assert isinstance(result, Parsed)
    assert result.items == ("a", "b")


@pytest.mark.parametrize(
    "reply",
    [
        "- a\n- b\n\nShall I go on?",
        "I looked at the segments.\nHere is the list:\n- a\n- b",
        "The reasons for which I give no list:\n- a\n- b",
        "Steps for the list:\n- a\n- b",
        '["I\'m sorry, but I cannot assist with that request."]',
    ],
)
def test_other_lines_are_no_list(reply: str) -> None:
    assert isinstance(parse_nuggets(reply, 9), ReplyProblem)
    assert isinstance(
        parse_labels(reply.replace("- a", "- vital").replace("- b", "- okay"), ("vital", "okay"), 2), ReplyProblem
    )


def test_a_nugget_about_marks_of_reasoning_is_kept() -> None:
    result = parse_nuggets('["models emit <think> tags", "they end with </think>"]', 9)
    assert isinstance(result, Parsed)
    assert result.items == ("models emit <think> tags", "they end with </think>")


def completion(**more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "full_support"}, "finish_reason": "stop"}
    return {"model": "m", "choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 5}} | more


def choice(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return completion(choices=[{"message": message, **more}])


@pytest.mark.parametrize(
    "body",
    [
        completion(model=None),
        completion(model=["m"]),
        completion(usage=None),
        completion(usage=[5, 5]),
        completion(usage="many"),
        completion(usage={"prompt_tokens": 5.5, "completion_tokens": "many"}),
        completion(usage={"prompt_tokens": [5], "completion_tokens": True}),
        completion(choices=[*completion()["choices"], {"delta": 1}]),
        completion(choices=[*completion()["choices"], None]),
        choice({"content": "full_support", "refusal": False}),
        choice({"content": "full_support", "refusal": None}),
        choice({"content": "full_support", "refusal": ""}),
        choice({"content": "full_support"}, finish_reason=1),
        choice({"content": "full_support"}, finish_reason=["stop"]),
        choice({"content": [{"type": "text", "text": "full_"}, {"type": "text", "text": "support"}]}),
        choice(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "no_support"}]},
                    {"type": "text", "text": "full_support"},
                ]
            }
        ),
        choice({"content": [{"type": "reasoning", "text": "no_support"}, "full_support"]}),
    ],
)
def test_an_odd_envelope_costs_no_reply(canned: Canned, body: dict[str, Any]) -> None:
    answer = send(canned.answers(200, {}, json.dumps(body).encode()), REQUEST)
    assert isinstance(answer, Completion)
    assert answer.text == "full_support"
    assert answer.finish_reason in {"stop", ""}


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": "- It may be harmful\n- It is private"},
        {"content": "full_support", "refusal": "No."},
        {"content": "full_support", "refusal": True},
        {"content": [{"type": "refusal", "refusal": "full_support"}]},
    ],
)
def test_what_comes_as_a_refusal_is_no_answer(canned: Canned, message: dict[str, Any]) -> None:
    answer = send(canned.answers(200, {}, json.dumps(choice(message, finish_reason="stop")).encode()), REQUEST)
    assert isinstance(answer, Completion)
    for kind, (data, failure) in outcomes(LlmReply(answer.text, finish=answer.finish_reason), False).items():
        assert (bool(data), data == 0, bool(failure)) == (False, False, True), kind


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 401, 402, 403])
def test_trouble_of_the_whole_endpoint_makes_jobs_wait(canned: Canned, status: int) -> None:
    refusal = send(canned.answers(status, {"Location": "/sign-in"}, b""), REQUEST)
    assert isinstance(refusal, CallRefusal)
    assert refusal.whole_endpoint
