"""ARGUE's nugget banks in both forms: what becomes of questions, answers and claims, and how they leave."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluation.errors import BadInput
from evaluation.formats.argue import argue_line, is_argue, parse_argue
from evaluation.formats.nuggets import NuggetListRow, NuggetRecord, nugget_list_line
from evaluation.formats.source import Source
from evaluation.terms import Importance

words = st.text(st.characters(categories=["Lu", "Ll", "Nd", "Po"]), min_size=1, max_size=12)
ids = st.from_regex(r"[a-z]{1,8}#[0-9]", fullmatch=True)
answers = st.fixed_dictionaries({"answer": words, "references": st.lists(ids, unique=True, max_size=2)})
questions = st.fixed_dictionaries(
    {
        "question": words,
        "aggregator_type": st.sampled_from(["AND", "OR"]),
        "answers": st.lists(answers, max_size=3),
    },
    optional={"importance": st.sampled_from(["vital", "okay", "of note"]), "note": words},
)


def question_of(text: str, operator: str, *answers: str) -> dict[str, Any]:
    listed = [{"answer": answer, "references": []} for answer in answers]
    return {"question": text, "aggregator_type": operator, "answers": listed}


def as_source(*lines: str) -> Source:
    return Source("f", "", tuple(enumerate(lines, 1)))


def parsed(**bank: Any) -> tuple[NuggetRecord, ...]:
    (row,) = parse_argue(as_source(json.dumps({"metadata": {"topic_id": "101"}, **bank})))
    return row.nuggets


@given(st.dictionaries(ids, st.lists(questions, max_size=4), min_size=1, max_size=3))
@example({"a#0": [question_of("0", "AND", "0")]})
@example({"a#0": [question_of("0", "AND", "0", "1"), question_of("0", "OR", "0")]})
def test_banks_leave_as_they_came(banks: dict[str, list[dict[str, Any]]]) -> None:
    lines = [
        json.dumps({"metadata": {"topic_id": topic, "team_id": "gamma"}, "nugget_bank": bank}, ensure_ascii=False)
        for topic, bank in banks.items()
    ]
    rows = parse_argue(as_source(*lines))
    written = [argue_line(row) for row in rows]
    assert parse_argue(as_source(*written)) == rows
    assert [json.loads(line)["nugget_bank"] for line in written] == list(banks.values())


@given(st.lists(st.tuples(words, st.sampled_from(Importance)), max_size=5))
def test_nuggets_of_another_origin_come_back_from_a_bank(listed: list[tuple[str, Importance]]) -> None:
    raws = {Importance.VITAL: "vital", Importance.OKAY: "okay", Importance.UNKNOWN: ""}
    row = NuggetListRow(
        1, "101", "why", tuple(NuggetRecord(text, importance, raws[importance]) for text, importance in listed), {}
    )
    (back,) = parse_argue(as_source(argue_line(row)))
    assert [(nugget.text, nugget.importance) for nugget in back.nuggets] == listed


def test_all_answers_are_a_nugget_each_and_any_answer_is_one() -> None:
    two_answers = [
        {"answer": "Yeast", "references": ["bread#0"]},
        {"answer": "heat", "references": ["bread#0", "bread#1"]},
    ]
    question = {"question": "What makes bread rise?", "answers": two_answers, "importance": "vital"}
    each = parsed(nugget_bank=[{**question, "aggregator_type": "AND"}])
    assert [nugget.text for nugget in each] == ["What makes bread rise? Yeast", "What makes bread rise? heat"]
    assert {nugget.importance for nugget in each} == {Importance.VITAL}
    (nugget,) = parsed(nugget_bank=[{**question, "aggregator_type": "OR"}])
    assert nugget.text == "What makes bread rise? Yeast / heat"
    assert [evidence.docid for evidence in nugget.provenance.evidence] == ["bread#0", "bread#1"]


def test_the_form_of_2025_is_read_in_one_line_or_in_many() -> None:
    answer = {"answer": "Yeast", "references": [{"doc_id": "bread#0", "collection": "loaves"}]}
    bank = {
        "query_id": 101,
        "title_query": "bread",
        "nugget_bank": {"What?": {"question": "What?", "answers": {"Yeast": answer}, "aggregator_type": "OR"}},
        "claim_bank": {"Salt slows it.": {"claim": "Salt slows it.", "references": ["bread#1"]}},
    }
    lines = json.dumps(bank, indent=1).splitlines()
    for source in (as_source(json.dumps(bank)), as_source(*lines)):
        assert is_argue(source)
        (row,) = parse_argue(source)
        assert (row.topic_id, row.query) == ("101", "bread")
        assert [nugget.text for nugget in row.nuggets] == ["What? Yeast", "Salt slows it."]
        assert [nugget.provenance.evidence[0].docid for nugget in row.nuggets] == ["bread#0", "bread#1"]


def test_what_is_wrong_with_a_bank_is_said_with_line_and_field() -> None:
    lines = ['{"nugget_bank": []}', '{"query_id": "1", "nugget_bank": [{"question": 7}]}', '{"query_id": "1"}'] * 2
    with pytest.raises(BadInput) as refusal:
        parse_argue(as_source(*lines[:4]))
    assert refusal.value.message.splitlines() == [
        "f:1: metadata.topic_id: a topic id (`query_id` or `metadata.topic_id`)",
        "f:2: nugget_bank.0.question: a string, found an integer",
        "f:4: metadata.topic_id: a topic id (`query_id` or `metadata.topic_id`)",
    ]


def test_a_bank_of_two_topics_is_refused() -> None:
    bank = {"query_id": "7", "metadata": {"topic_id": "8"}, "nugget_bank": []}
    with pytest.raises(BadInput, match=r":1: metadata\.topic_id: the topic that query_id says, 7, found 8"):
        parse_argue(as_source(json.dumps(bank)))
    bank["metadata"] = {"topic_id": 7}
    assert [row.topic_id for row in parse_argue(as_source(json.dumps(bank)))] == ["7"]


def test_lists_of_nuggetizer_are_none() -> None:
    assert not is_argue(as_source(nugget_list_line(NuggetListRow(1, "1", '"nugget_bank"', ()))))
