"""Nuggets that an answer must not contain weigh less than 0, or are refused with file, line and field."""

import json
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.argue import parse_lists
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.nuggets import is_avoid
from evaluation.formats.source import Source

AVOID = ("avoid", "AVOID", "must_avoid", "must avoid", "Must Avoid", " must-avoid ")
NO_SCORE = "vital or okay: an answer must not contain this nugget, so give it a weight below 0, found "
NO_NOT = "AND or OR: a question whose answers must not be given has no score yet, found 'NOT'"
GOOD = {"text": "Yeast makes gas", "importance": "vital"}


def source(*lines: dict[str, Any]) -> Source:
    return Source("bread.jsonl", "", tuple(enumerate(map(json.dumps, lines), 1)))


def problems(error: pytest.ExceptionInfo[BadInput]) -> list[tuple[str, int, str, str]]:
    return [(problem.file, problem.line, problem.field, problem.expected) for problem in error.value.problems]


@pytest.mark.parametrize("word", AVOID)
def test_a_nugget_to_avoid_is_refused_with_its_field(word: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_lists(
            source(
                {"qid": "1", "nuggets": [GOOD]},
                {"qid": "2", "nuggets": [GOOD, {"text": "Yeast is a metal", "importance": word}]},
            )
        )
    assert problems(refused) == [("bread.jsonl", 2, "nuggets.1.importance", f"{NO_SCORE}{word!r}")]


@pytest.mark.parametrize("word", AVOID)
def test_a_label_of_a_nugget_to_avoid_is_refused(word: str) -> None:
    nuggets = [{**GOOD, "assignment": "support"}, {"text": "b", "importance": word, "assignment": None}]
    with pytest.raises(BadInput) as refused:
        parse_assignments(source({"qid": "1", "run_id": "r", "nuggets": nuggets}))
    assert problems(refused) == [("bread.jsonl", 1, "nuggets.1.importance", f"{NO_SCORE}{word!r}")]


def test_a_question_with_not_is_refused_in_both_forms_of_banks() -> None:
    question = {"question": "Is yeast a metal?", "aggregator_type": "NOT", "answers": [{"answer": "yes"}]}
    bank = {"metadata": {"topic_id": "1"}, "nugget_bank": [{"question": "Why?"}, question]}
    old = {"query_id": "1", "nugget_bank": {"Why?": {"question": "Why?"}, "Is it?": question}}
    for row in (bank, old):
        with pytest.raises(BadInput) as refused:
            parse_lists(source(row))
        assert problems(refused) == [("bread.jsonl", 1, "nugget_bank.1.aggregator_type", NO_NOT)]


def test_importances_to_avoid_are_refused_in_banks() -> None:
    bank = {
        "metadata": {"topic_id": "1"},
        "nugget_bank": [{"question": "Is yeast a metal?", "importance": "Avoid"}],
        "claim_bank": [{"claim": "Salt is sweet.", "importance": "must_avoid"}],
    }
    with pytest.raises(BadInput) as refused:
        parse_lists(source(bank))
    fields = [field for _, _, field, _ in problems(refused)]
    assert fields == ["nugget_bank.0.importance", "claim_bank.0.importance"]


def test_a_not_that_a_bank_gave_is_refused_as_a_nugget_too() -> None:
    question = {"place": 0, "question": "Is yeast a metal?", "aggregator_type": "not", "answers": []}
    listed = {"qid": "1", "nuggets": [{"text": "Is yeast a metal?", "importance": "vital", "argue": question}]}
    with pytest.raises(BadInput) as refused:
        parse_lists(source(listed))
    [(_, line, field, expected)] = problems(refused)
    assert (line, field) == (1, "nuggets.0.argue.aggregator_type")
    assert expected.endswith("found 'not'")


@pytest.mark.parametrize("word", ["vital", "okay", "", "avoidable", "unavoidable", "must", None, 1])
def test_other_importances_are_not_taken_for_avoid(word: object) -> None:
    assert not is_avoid(word)


@pytest.mark.parametrize("weight", [-0.125, -100])
def test_a_nugget_to_avoid_that_weighs_less_than_nothing_is_read(weight: float) -> None:
    avoided = {"text": "Yeast is a metal", "importance": "must_avoid", "weight": weight}
    [listed] = parse_lists(source({"qid": "1", "nuggets": [{**GOOD, "weight": 0}, avoided]}))
    assert [nugget.weight for nugget in listed.nuggets] == [0, weight]
    bank = {"claim": "Salt is sweet.", "importance": "avoid", "weight": weight}
    [listed] = parse_lists(source({"query_id": "1", "claim_bank": [bank]}))
    assert [nugget.weight for nugget in listed.nuggets] == [weight]
    label = {**avoided, "assignment": "support"}
    [row] = parse_assignments(source({"qid": "1", "run_id": "r", "nuggets": [label]}))
    assert row.labels[0].weight == weight


@pytest.mark.parametrize("weight", [-100.5, 101, 0.0625, True, "5"])
def test_a_weight_is_a_number_within_its_range(weight: object) -> None:
    for row in (
        {"qid": "1", "nuggets": [{**GOOD, "weight": weight}]},
        {"metadata": {"topic_id": "1"}, "nuggets": [], "nugget_bank": [{"question": "Why?", "weight": weight}]},
    ):
        with pytest.raises(BadInput) as refused:
            parse_lists(source(row))
        [(_, line, field, expected)] = problems(refused)
        assert (line, field.split(".")[1:]) == (1, ["0", "weight"])
        assert expected.startswith("a number")


def test_in_a_list_every_nugget_has_a_weight_or_none_has() -> None:
    with pytest.raises(BadInput) as refused:
        parse_lists(source({"qid": "1", "nuggets": [{**GOOD, "weight": 3}, GOOD, {"text": "b", "weight": -1}]}))
    assert problems(refused) == [
        ("bread.jsonl", 1, "nuggets.1.weight", "a number, as the 2 others of this list have one")
    ]
    bank = {"query_id": "1", "nugget_bank": [{"question": "Why?"}], "claim_bank": [{"claim": "a", "weight": 1}]}
    with pytest.raises(BadInput) as refused:
        parse_lists(source(bank))
    assert problems(refused) == [
        ("bread.jsonl", 1, "nugget_bank.0.weight", "a number, as the 1 other of this list has one")
    ]
