"""What is wrong with a line is said with file, line and field, for every family of files."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.citation_judgments import parse_support
from evaluation.formats.nuggets import parse_nuggets
from evaluation.formats.runs import parse_run
from evaluation.formats.scores import parse_scores
from evaluation.formats.segments import parse_segments
from evaluation.formats.source import Source
from evaluation.formats.topics import parse_qrels, parse_topics
from reports.metrics.registry import BY_NAME


def parse_published(source: Source) -> object:
    return parse_scores(source, BY_NAME)


Case = tuple[Callable[[Source], Any], str, int, str, str]

TOPIC = {"id": "1", "title": "t"}
SEGMENT = {"docid": "d1", "segment": "x"}
RUN = {
    "run_id": "r",
    "topic_id": "1",
    "topic": "t",
    "references": ["d"],
    "answer": [{"text": "A.", "citations": [0]}],
}
RUN25 = {"metadata": {"run_id": "r", "narrative_id": 1}, "references": [], "answer": []}
NUGGETS = {"qid": "1", "nuggets": [{"text": "n", "importance": "vital"}]}
ASSIGN = {"qid": "1", "run_id": "r", "nuggets": [{"text": "n", "assignment": "support"}]}
SUPPORT = {"run_id": "r", "topic_id": "1", "sentence": 0, "docid": "d", "label": "full_support"}


def lines(*rows: dict[str, Any] | str) -> str:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n"


def without(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}


def answering(**sentence: Any) -> str:
    return lines({**RUN, "answer": [sentence]})


DEEP = '{"qid": "1", "nuggets": [], "x": ' + "[" * 5000 + "]" * 5000 + "}"

GENERAL = [
    (parse_nuggets, lines(NUGGETS, '{"qid": "2", '), 2, "line", "valid JSON: EOF"),
    (parse_nuggets, lines(NUGGETS, "nonsense"), 2, "line", "valid JSON"),
    (parse_nuggets, lines("[1, 2]"), 1, "line", "an object, found a list"),
    (parse_nuggets, lines('"text"'), 1, "line", "an object, found a string"),
    (parse_nuggets, lines(DEEP), 1, "line", "nested too deep"),
    (parse_nuggets, lines({**NUGGETS, "x": "a\0b"}), 1, "line", "\\u0000"),
    (parse_nuggets, lines('{"qid": "1", "nuggets": [], "x": NaN}'), 1, "line", "NaN"),
    (parse_nuggets, lines('{"qid": "1", "nuggets": [], "x": "\\ud800"}'), 1, "line", "valid JSON"),
]
TOPICS = [
    (parse_topics, "1\ta\n2 b\n", 2, "columns", "2 columns"),
    (parse_topics, "1\ta\tb\n", 1, "columns", "found 3"),
    (parse_topics, "1\t \n", 1, "text", "not empty"),
    (parse_topics, "=1+1\ta\n", 1, "id", "spreadsheet"),
    (parse_topics, "1 2\ta\n", 1, "id", "white space"),
    (parse_topics, "1\ta\n1\ta\n", 2, "id", "line 1"),
    (parse_topics, lines({"title": "t"}), 1, "id", "missing"),
    (parse_topics, lines({"id": "1"}), 1, "text", "missing"),
    (parse_topics, lines({**TOPIC, "tags": "dev"}), 1, "tags", "a list, found a string"),
    (parse_topics, lines({**TOPIC, "limit": "2000"}), 1, "limit", "an integer, found a string"),
    (parse_topics, lines({**TOPIC, "limit": 2000.5}), 1, "limit", "an integer"),
    (parse_topics, lines({**TOPIC, "limit": True}), 1, "limit", "an integer, found true or false"),
    (parse_topics, lines({**TOPIC, "limit": 0}), 1, "limit", "at least 1"),
    (parse_topics, lines({"id": True, "title": "t"}), 1, "id", "a string, found true or false"),
    (parse_topics, lines({"id": -1, "title": "t"}), 1, "id", "does not begin with"),
]
SEGMENTS = [
    (parse_segments, lines({"segment": "x"}), 1, "docid", "missing"),
    (parse_segments, lines({"docid": "d"}), 1, "segment", "missing"),
    (parse_segments, lines({"docid": "d", "segment": ""}), 1, "segment", "not empty"),
    (parse_segments, lines({**SEGMENT, "start_char": "0"}), 1, "start_char", "an integer, found a string"),
    (parse_segments, lines(SEGMENT, {**SEGMENT, "segment": "y"}), 2, "docid", "line 1"),
    (parse_segments, lines({"query": "q", "candidates": {}}), 1, "candidates", "a list, found an object"),
    (parse_segments, lines({"candidates": [{"docid": "d", "doc": {}}]}), 1, "candidates.0.segment", "missing"),
    (parse_segments, lines({"candidates": [{"doc": {"segment": "x"}}]}), 1, "candidates.0.docid", "missing"),
]
QRELS = [
    (parse_qrels, "1 0 d 1\n1 0 e\n", 2, "columns", "4 columns"),
    (parse_qrels, "1 0 d x\n", 1, "grade", "an integer, found 'x'"),
    (parse_qrels, "1 0 d 1.0\n", 1, "grade", "an integer"),
    (parse_qrels, "1 0 d ٣\n", 1, "grade", "an integer"),
    (parse_qrels, "1 0 d -2\n", 1, "grade", "at least -1"),
    (parse_qrels, "1 0 d 99999\n", 1, "grade", "at most"),
    (parse_qrels, "1 Q0 d 250 11.3 bm25\n", 1, "grade", "retrieval run"),
    (parse_qrels, "1 0 d 1\n1 0 e 1\n1 0 d 2\n", 3, "grade", "conflicting duplicate of line 1"),
    (parse_qrels, "1 0 @d 1\n", 1, "docid", "spreadsheet"),
    (parse_qrels, "1 0 " + "d" * 201 + " 1\n", 1, "docid", "200 characters"),
]
RUNS = [
    (parse_run, lines(without(RUN, "run_id")), 1, "run_id", "missing"),
    (parse_run, lines(without(RUN, "topic_id")), 1, "topic_id", "missing"),
    (parse_run, lines(without(RUN, "references")), 1, "references", "missing"),
    (parse_run, lines(without(RUN, "answer")), 1, "answer", "missing"),
    (parse_run, lines({"hello": "world"}), 1, "run_id", "missing"),
    (parse_run, lines({**RUN25, "metadata": {"narrative_id": 1}}), 1, "metadata.run_id", "missing"),
    (parse_run, lines({**RUN25, "metadata": {"run_id": "r"}}), 1, "metadata.narrative_id", "missing"),
    (parse_run, lines({**RUN25, "metadata": "r"}), 1, "metadata", "an object, found a string"),
    (parse_run, lines({**RUN, "run_id": "=cmd"}), 1, "run_id", "spreadsheet"),
    (parse_run, lines({**RUN, "references": "d"}), 1, "references", "a list, found a string"),
    (parse_run, lines({**RUN, "references": ["d", None]}), 1, "references.1", "a string, found null"),
    (parse_run, lines({**RUN, "response_length": "12"}), 1, "response_length", "an integer, found a string"),
    (parse_run, lines({**RUN, "response_length": -1}), 1, "response_length", "at least 0"),
    (parse_run, lines({**RUN, "answer": "A."}), 1, "answer", "a list, found a string"),
    (parse_run, lines({**RUN, "answer": ["A."]}), 1, "answer.0", "an object, found a string"),
    (parse_run, answering(text=5), 1, "answer.0.text", "a string"),
    (parse_run, answering(citations=[]), 1, "answer.0.text", "missing"),
    (parse_run, answering(text="A", citations=0), 1, "answer.0.citations", "integers"),
    (
        parse_run,
        answering(text="A", citations=[0.5]),
        1,
        "answer.0.citations",
        "integers",
    ),
    (
        parse_run,
        answering(text="A", citations=[True]),
        1,
        "answer.0.citations",
        "integers",
    ),
    (parse_run, answering(text="A", citations=["a b"]), 1, "answer.0.citations", "white"),
    (
        parse_run,
        answering(text="A", citations=[10**30]),
        1,
        "answer.0.citations",
        "bounds",
    ),
    (parse_run, lines(RUN, RUN), 2, "topic_id", "line 1"),
    (parse_run, lines(RUN, {**RUN, "topic_id": "2", "run_id": "s"}), 2, "run_id", "one run per file"),
]
NUGGET_LISTS = [
    (parse_nuggets, lines(without(NUGGETS, "qid")), 1, "qid", "missing"),
    (parse_nuggets, lines(without(NUGGETS, "nuggets")), 1, "nuggets", "missing"),
    (parse_nuggets, lines({"qid": "1", "nuggets": ["n"]}), 1, "nuggets.0", "an object, found a string"),
    (parse_nuggets, lines({"qid": "1", "nuggets": [{"text": " "}]}), 1, "nuggets.0.text", "not empty"),
    (
        parse_nuggets,
        lines({"qid": "1", "nuggets": [{"text": "n", "importance": 1}]}),
        1,
        "nuggets.0.importance",
        "str",
    ),
    (parse_nuggets, lines(NUGGETS, NUGGETS), 2, "qid", "line 1"),
]
ASSIGNMENTS = [
    (parse_assignments, lines(without(ASSIGN, "run_id")), 1, "run_id", "missing"),
    (parse_assignments, lines({**ASSIGN, "nuggets": {}}), 1, "nuggets", "a list, found an object"),
    (parse_assignments, lines({**ASSIGN, "nuggets": [{"assignment": "support"}]}), 1, "nuggets.0.text", "missing"),
    (parse_assignments, lines({**ASSIGN, "nuggets": [7]}), 1, "nuggets.0", "an object, found an integer"),
    (
        *(parse_assignments, lines({**ASSIGN, "nuggets": [{"text": "n", "assignment": 1}]})),
        *(1, "nuggets.0.assignment", "a string, found an integer"),
    ),
    (parse_assignments, lines(ASSIGN, {**ASSIGN, "nuggets": []}), 2, "run_id", "line 1"),
]
SUPPORTS = [
    (parse_support, lines(without(SUPPORT, "label")), 1, "label", "missing"),
    (parse_support, lines({**SUPPORT, "sentence": -1}), 1, "sentence", "at least 0"),
    (parse_support, lines({**SUPPORT, "sentence": "0"}), 1, "sentence", "an integer, found a string"),
    (parse_support, lines({**SUPPORT, "condition": "blind"}), 1, "condition", "scratch or post-edit or llm"),
    (parse_support, lines({**SUPPORT, "judge": "@x"}), 1, "judge", "spreadsheet"),
    (parse_support, lines({**SUPPORT, "judge": " x"}), 1, "judge", "white space around"),
    (
        parse_support,
        lines(SUPPORT, {**SUPPORT, "label": "no_support"}),
        2,
        "label",
        "conflicting duplicate of line 1",
    ),
]
SCORES = [
    (parse_published, "r1,0.5\n", 1, "header", "run_id"),
    (parse_published, "run_id,team\nr1,x\n", 1, "header", "vital_strict"),
    (parse_published, "run_id,all,all\nr1,1,1\n", 1, "header", "2 times"),
    (parse_published, "run_id,all\n", 1, "file", "rows below"),
    (parse_published, "run_id,all\nr1,0.5\nr2,high\n", 3, "all", "a finite number"),
    (parse_published, "run_id,all\nr1,nan\n", 2, "all", "a finite number"),
    (parse_published, "run_id,all\nr1,inf\n", 2, "all", "a finite number"),
    (parse_published, f"run_id,all\nr1,{'9' * 400}\n", 2, "all", "a finite number"),
    (parse_published, "run_id,all\nr1,1_0\n", 2, "all", "a finite number"),
    (parse_published, "run_id,all\nr1,0.5,0.6\n", 2, "columns", "2 columns"),
    (parse_published, "run_id,task,all\nr1,QA,0.5\n", 2, "task", "AG or RAG"),
    (parse_published, "run_id,all\n=r1,0.5\n", 2, "run_id", "spreadsheet"),
    (parse_published, "run_id,all\nr1,0.5\nr1,0.5\n", 3, "run_id", "line 2"),
    (parse_published, 'run_id,all\n"r1,0.5\n', 2, "line", "valid CSV"),
]
CASES: list[Case] = [*GENERAL, *TOPICS, *SEGMENTS, *QRELS, *RUNS, *NUGGET_LISTS, *ASSIGNMENTS, *SUPPORTS, *SCORES]


@pytest.mark.parametrize("case", CASES)
def test_a_problem_names_file_line_and_field(source: Callable[[str], Source], case: Case) -> None:
    parse, content, line, field, words = case
    read = source(content)
    with pytest.raises(BadInput) as refused:
        parse(read)
    first = refused.value.problems[0]
    assert (first.file, first.line, first.field) == (read.name, line, field)
    assert words in first.expected


def test_all_problems_of_a_file_are_told(source: Callable[[str], Source]) -> None:
    content = lines({**RUN, "references": 1, "answer": [{"text": 5}]}, "[]", {**RUN, "run_id": ""})
    with pytest.raises(BadInput) as refused:
        parse_run(source(content))
    places = [(problem.line, problem.field) for problem in refused.value.problems]
    assert places == [(1, "references"), (1, "answer.0.text"), (2, "line"), (3, "run_id")]


def test_a_file_bad_on_every_line_is_given_up_after_a_thousand(source: Callable[[str], Source]) -> None:
    with pytest.raises(BadInput) as refused:
        parse_qrels(source("nonsense\n" * 3000))
    assert len(refused.value.problems) == 1000


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_no_id_starts_a_formula(source: Callable[[str], Source], start: str) -> None:
    with pytest.raises(BadInput, match="spreadsheet"):
        parse_assignments(source(lines({**ASSIGN, "run_id": f"{start}SUM(A1)"})))


@pytest.mark.parametrize("odd", ["a\u202eb", "a\u00a0b", "a\u200bb", "a\u2028b", "a\tb", ""])
def test_no_id_has_invisible_characters(source: Callable[[str], Source], odd: str) -> None:
    with pytest.raises(BadInput, match="an id"):
        parse_assignments(source(lines({**ASSIGN, "run_id": odd})))
