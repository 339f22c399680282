"""Topics as the tracks of 2025 and 2026 write requests: ids, texts beside the title, languages."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.source import Source
from evaluation.formats.topics import TopicRecord, parse_topics
from tests.evaluation.formats.writing import topic_line

Read = Callable[[str], Source]
REQUEST = {
    "request_id": "28",
    "title": "wings",
    "background": "I build gliders.",
    "problem_statement": "Why are wings curved?",
    "limit": 2000,
}
DOCUMENT = {
    "docid": "doc_04_1",
    "title": "A pie",
    "body": "The paper of record says …",
    "url": "https://news.example/1",
}


def parsed(source: Read, **line: Any) -> TopicRecord:
    [row] = parse_topics(source(json.dumps(line)))
    return row


def test_a_request_keeps_its_problem_statement_and_background(source: Read) -> None:
    row = parsed(source, **REQUEST)
    assert (row.topic_id, row.text) == ("28", "wings")
    assert (row.problem_statement, row.background) == ("Why are wings curved?", "I build gliders.")
    assert row.extra == {"limit": 2000}


@pytest.mark.parametrize("key", ["body", "text", "segment"])
def test_a_document_is_a_topic_with_its_article(source: Read, key: str) -> None:
    line = (
        {**DOCUMENT, key: DOCUMENT["body"]} if key == "body" else {**DOCUMENT, "body": None, key: DOCUMENT["body"]}
    )
    row = parsed(source, **line)
    assert (row.topic_id, row.text, row.article) == ("doc_04_1", "A pie", "The paper of record says …")
    assert row.extra == {"url": "https://news.example/1"}


def test_a_text_that_is_the_title_is_no_article(source: Read) -> None:
    row = parsed(source, docid="d1", text="what makes bread rise")
    assert (row.text, row.article) == ("what makes bread rise", "")
    assert parsed(source, id="1", title="bread", text="long").extra == {"text": "long"}


@pytest.mark.parametrize("line", [REQUEST, DOCUMENT, {"id": "1", "title": "خبز", "lang": "ARB"}])
def test_a_request_comes_back_as_written(source: Read, line: dict[str, Any]) -> None:
    row = parsed(source, **line)
    assert parse_topics(source(topic_line(row))) == (row,)


@pytest.mark.parametrize("key", ["language", "lang"])
def test_a_topic_s_language_is_a_normalised_tag(source: Read, key: str) -> None:
    row = parsed(source, id="1", title="t", **{key: "pt_br"})
    assert (row.language, row.extra) == ("pt-BR", {})


def test_a_language_that_is_no_tag_is_refused(source: Read) -> None:
    with pytest.raises(BadInput) as refused:
        parsed(source, id="1", title="t", language="English")
    [problem] = refused.value.problems
    assert (problem.line, problem.field) == (1, "language")
    assert problem.expected == "a BCP 47 language tag such as en or pt-BR, found 'English'"
