"""Nuggets that an answer must not contain are refused, with file, line and field, in every form of file."""

import json
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.argue import parse_lists
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.nuggets import is_avoid
from evaluation.formats.source import Source

AVOID = ("avoid", "AVOID", "must_avoid", "must avoid", "Must Avoid", " must-avoid ")
NO_SCORE = "vital or okay: a nugget that an answer must not contain has no score yet, found "
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
