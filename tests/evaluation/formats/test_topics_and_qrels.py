"""Topics and relevance judgments in the forms in which they come."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import BadInput
from evaluation.formats.lines import id_problem
from evaluation.formats.source import Source, read_source
from evaluation.formats.topics import QrelRecord, TopicRecord, parse_qrels, parse_topics, qrel_line
from tests.evaluation.formats.writing import topic_line

Read = Callable[[str], Source]

ids = st.text(min_size=1, max_size=30).filter(lambda text: id_problem(text) is None)


def test_topics_of_a_table(source: Read) -> None:
    assert parse_topics(source("1\ta b\n\n2\tc\n")) == (TopicRecord(1, "1", "a b"), TopicRecord(3, "2", "c"))


@pytest.mark.parametrize(
    "line",
    [
        {"id": "7", "title": "t"},
        {"id": "7", "text": "t"},
        {"qid": "7", "query": "t"},
        {"narrative_id": 7, "narrative": "t"},
    ],
)
def test_topics_of_every_json_form(source: Read, line: dict[str, object]) -> None:
    assert parse_topics(source(json.dumps(line))) == (TopicRecord(1, "7", "t"),)


def test_tags_and_unknown_keys_of_a_topic_are_kept(source: Read) -> None:
    row = TopicRecord(1, "7", "t", ("dev", "hard"), {"narrative": "long", "year": 2025})
    line = json.dumps({"id": 7, "title": "t", "tags": ["dev", "hard"], "narrative": "long", "year": 2025})
    assert parse_topics(source(line)) == (row,)
    assert parse_topics(source(topic_line(row))) == (row,)


@pytest.mark.parametrize(
    ("text", "field"),
    [("1\ta\nall\tb\n", "id"), ('{"qid": "1", "query": "a"}\n{"qid": "all", "query": "b"}', "qid")],
)
def test_no_topic_is_called_as_the_row_over_all_topics(source: Read, text: str, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_topics(source(text))
    [problem] = refused.value.problems
    expected = "an id other than all, which means every topic in files of scores"
    assert (problem.line, problem.field, problem.expected) == (2, field, expected)


def test_the_second_column_of_qrels_means_nothing(source: Read) -> None:
    rows = parse_qrels(source("1 Q0 d 1\n1\t5\te\t0\n1 0 f -1\n"))
    assert [(row.docid, row.grade) for row in rows] == [("d", 1), ("e", 0), ("f", -1)]


def test_six_column_judgments_are_qrels(source: Read) -> None:
    assert parse_qrels(source("1 Q0 d 3 0.9 umbrela\n")) == (QrelRecord(1, "1", "d", 3),)


def test_an_equal_judgment_may_be_repeated(source: Read) -> None:
    assert len(parse_qrels(source("1 0 d 1\n1 Q0 d 1\n"))) == 1


@given(st.dictionaries(st.tuples(ids, ids), st.integers(-1, 4)))
def test_qrels_come_back_as_written(grades: dict[tuple[str, str], int]) -> None:
    rows = tuple(QrelRecord(n, topic, docid, g) for n, ((topic, docid), g) in enumerate(grades.items(), 1))
    assert parse_qrels(Source("f", "", tuple((row.line, qrel_line(row)) for row in rows))) == rows


@pytest.mark.parametrize(
    ("name", "count"),
    [("trec-rag-2024/topics.rag24.test.tsv", 301), ("trec-rag-2025/topics.rag25.test.jsonl", 105)],
)
def test_real_topics(data: Path, name: str, count: int) -> None:
    assert len(parse_topics(read_source(data / name))) == count


@pytest.mark.parametrize(
    ("name", "rows", "topics"),
    [
        ("trec-rag-2024/qrels.rag24.test.txt", 20_429, 89),
        ("trec-rag-2025/qrels.rag25.test.txt", 10_284, 22),
        ("trec-rag-2025/qrels.rag25.test-umbrela2.txt", 10_284, 22),
    ],
)
def test_real_qrels(data: Path, name: str, rows: int, topics: int) -> None:
    found = parse_qrels(read_source(data / name))
    assert (len(found), len({row.topic_id for row in found})) == (rows, topics)
