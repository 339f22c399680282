"""A file that is given as another kind is refused once, as what it is; other faults are named where they are."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.argue import parse_lists
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.citation_judgments import parse_support
from evaluation.formats.runs import parse_run
from evaluation.formats.scores import parse_scores
from evaluation.formats.segments import parse_segments
from evaluation.formats.source import Source, read_source
from evaluation.formats.topics import parse_qrels, parse_topics
from reports.metrics.registry import BY_NAME


def parse_published(source: Source) -> object:
    return parse_scores(source, BY_NAME)


def source(content: str | bytes) -> Source:
    return read_source(BytesIO(content if isinstance(content, bytes) else content.encode()), name="f")


def problems(parse: Callable[[Source], Any], content: str | bytes) -> list[str]:
    with pytest.raises(BadInput) as refused:
        parse(source(content))
    return [str(problem) for problem in refused.value.problems]


def lines(*rows: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


CSV = "".join(f"{n},what is {n}\n" for n in range(200))
QRELS = "".join(f"{n} 0 d{n} {n % 3}\n" for n in range(200))
TOPICS = "".join(f"{n}\twhy is river {n} wide\n" for n in range(200))
RETRIEVAL = "".join(f"{t} Q0 d{n} {n} {20 - n}.5 bm25\n" for t in range(3) for n in range(1, 9))
RUN = lines({"run_id": "r", "topic_id": "1", "references": [], "answer": []})
NUGGETS = lines({"qid": "1", "nuggets": [{"text": "a", "importance": "vital"}]})
LABELS = lines({"qid": "1", "run_id": "r", "nuggets": [{"text": "a", "assignment": "support"}]})


@pytest.mark.parametrize(
    ("parse", "content", "words"),
    [
        (parse_topics, CSV, "this is a comma CSV"),
        (parse_topics, CSV.replace(",", ";"), "CSV with semicolons"),
        (parse_topics, QRELS, "these look like qrels"),
        (parse_topics, RETRIEVAL, "retrieval run"),
        (parse_topics, "<top>\n<num>1</num>\n", "XML"),
        (parse_qrels, TOPICS, "these look like topics"),
        (parse_qrels, CSV, "this is a comma CSV"),
        (parse_qrels, RETRIEVAL, "retrieval run"),
        (parse_qrels, lines({"id": "1", "title": "t"}) * 50, "JSON lines that look like topics"),
        (parse_run, QRELS, "these look like qrels"),
        (parse_run, RETRIEVAL, "retrieval run"),
        (parse_run, NUGGETS, "nuggets"),
        (parse_run, LABELS, "nugget labels"),
        (parse_segments, QRELS, "these look like qrels"),
        (parse_segments, RUN, "the answers of a run"),
        (parse_lists, RUN, "the answers of a run"),
        (parse_lists, TOPICS, "these look like topics"),
        (parse_assignments, CSV, "this is a comma CSV"),
        (parse_support, LABELS, "nugget labels"),
        (parse_published, QRELS, "these look like qrels"),
    ],
)
def test_a_wrong_kind_is_said_once(parse: Callable[[Source], Any], content: str, words: str) -> None:
    (problem,) = problems(parse, content)
    assert words in problem


@pytest.mark.parametrize(
    "content",
    [
        RETRIEVAL,
        "101 Q0 a 1 12.5 bm25\n101 Q0 b 2 11.5 bm25\n102 Q0 c 1 9.5 bm25\n",
        "".join(reversed(RETRIEVAL.splitlines(keepends=True))),
        "1 Q0 a 3 9.5 x\n1 Q0 b 5 8.5 x\n1 Q0 c 9 1.5 x\n2 Q0 a 7 2.5 x\n2 Q0 b 8 2.5 x\n",
        "1 Q0 a 0 9.5 x\n1 Q0 b 1 8.5 x\n1 Q0 c 2 1.5 x\n",
        "1 Q0 a 1 9.5 x\n2 Q0 b 1 8.5 x\n",
    ],
)
def test_a_retrieval_run_is_no_qrels(content: str) -> None:
    (problem,) = problems(parse_qrels, content)
    assert "retrieval run" in problem


@pytest.mark.parametrize(
    "content",
    ["1 0 a 0 0.9 ann\n1 0 b 2 0.5 ann\n1 0 c 2 0.4 ann\n", "1 0 a 1 0.9 ann\n2 0 b 1 0.5 ann\n", QRELS],
)
def test_grades_with_confidence_and_name_are_read(content: str) -> None:
    assert len(parse_qrels(source(content))) == content.count("\n")


@pytest.mark.parametrize("head", ["qid\tquery", "ID\tText", "topic_id\ttitle", "#qid\tquery", "Topic\tNarrative"])
def test_a_header_is_no_topic(head: str) -> None:
    (problem,) = problems(parse_topics, f"{head}\n101\twhat makes bread rise\n")
    assert problem.startswith("f:1: line")
    assert "header" in problem
    assert len(parse_topics(source("101\tquery\nqid\tquery\n"))) == 2


@pytest.mark.parametrize(
    ("parse", "content", "key"),
    [
        (parse_run, RUN.replace('"topic_id"', '"topic_id": "0", "topic_id"'), "topic_id"),
        (parse_run, RUN.replace('"answer": []', '"answer": [{"text": "a", "text": "b"}]'), "text"),
        (parse_assignments, LABELS.replace('"assignment"', '"assignment": null, "assignment"'), "assignment"),
        (parse_lists, NUGGETS.replace('"importance"', '"importance": "okay", "importance"'), "importance"),
        (parse_lists, '{"query_id":"1","nugget_bank":{"Q?":{"question":"Q?"},"Q?":{"question":"R?"}}}\n', "Q?"),
        (
            parse_support,
            '{"run_id":"r","topic_id":"1","sentence":0,"docid":"d","label":"a","label":"b"}\n',
            "label",
        ),
        (parse_topics, '{"id":"1","title":"a","title":"b"}\n', "title"),
        (parse_segments, '{"docid":"1","text":"a","text":"b"}\n', "text"),
    ],
)
def test_a_key_twice_is_refused_with_line_and_key(parse: Callable[[Source], Any], content: str, key: str) -> None:
    assert problems(parse, content) == [f"f:1: {key}: `{key}` once, it is there twice"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["1\twhat is\n" * 50, "".join(f"{n}\t東京では雨が降った\n" for n in range(99))])
def test_utf_16_is_said_once(encoding: str, text: str) -> None:
    with pytest.raises(BadInput) as refused:
        source(text.encode(encoding))
    (problem,) = refused.value.problems
    assert "UTF-16" in str(problem)


def test_a_lone_byte_of_windows_does_not_blame_the_line_ends() -> None:
    with pytest.raises(BadInput) as refused:
        source("1\tcafé\r\n2\tx\r\n3\ty\r\n".encode("cp1252"))
    (problem,) = refused.value.problems
    assert (problem.line, problem.field) == (1, "encoding")


def test_a_kind_of_problem_has_five_places_and_a_count() -> None:
    rows = [{"qid": str(n), "nuggets": [{"text": ""}]} for n in range(40)] + [{"qid": "x"}]
    with pytest.raises(BadInput) as refused:
        parse_lists(source(lines(*rows)))
    assert len(refused.value.problems) == 41
    shown = refused.value.message.splitlines()
    assert [line.split(":")[1] for line in shown[:6]] == ["1", "2", "3", "4", "5", "41"]
    assert shown[6:] == ["and 35 more like f:1"]


@pytest.mark.parametrize("word", ["and", "And", " AND "])
def test_operators_of_argue_are_read_in_any_case(word: str) -> None:
    bank = {"query_id": "1", "nugget_bank": [{"question": "Q?", "aggregator_type": word}]}
    bank["nugget_bank"][0]["answers"] = [{"answer": "a"}, {"answer": "b"}]  # type: ignore[index]
    assert [nugget.text for nugget in parse_lists(source(lines(bank)))[0].nuggets] == ["Q? a", "Q? b"]


@pytest.mark.parametrize("word", ["ALL", "xor", "some"])
def test_another_operator_is_refused(word: str) -> None:
    bank = {"query_id": "1", "nugget_bank": [{"question": "Q?", "aggregator_type": word, "answers": []}]}
    (problem,) = problems(parse_lists, lines(bank))
    assert "AND or OR" in problem


def test_a_passage_may_be_in_doc_as_a_text_or_an_object() -> None:
    rows: list[dict[str, Any]] = [
        {"docid": "a", "doc": "the text"},
        {"docid": "b", "title": "T", "doc": {"contents": "more"}},
        {"doc": {"docid": "c", "segment": "third"}},
        {
            "query": {"qid": "1"},
            "candidates": [{"docid": "d", "rank": 1, "doc": "fourth"}, {"docid": "e", "doc": {"text": "5"}}],
        },
    ]
    found = parse_segments(source(lines(*rows)))
    assert [(row.docid, row.title, row.text) for row in found] == [
        ("a", "", "the text"),
        ("b", "T", "more"),
        ("c", "", "third"),
        ("d", "", "fourth"),
        ("e", "", "5"),
    ]
