"""Files of traces as tools and spreadsheets write them: read, or refused in words that name the place."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import BadInput, Refused
from evaluation.formats.problems import Problems
from evaluation.formats.source import MAX_TEXT_LINE_BYTES, read_source
from evaluation.formats.traces import TraceMap, TraceOptions, TraceRecord, trace_records

RAGAS = TraceOptions(run="bot")
SHEET = TraceOptions(run="bot", names=TraceMap(question="q", answer="a", contexts="c", context_ids="i"))


def read(tmp_path: Path, content: str | bytes, options: TraceOptions = RAGAS) -> list[TraceRecord]:
    """Read a file. Raises `Refused` as the import does."""
    path = tmp_path / "traces"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    source = read_source(path, max_line_bytes=MAX_TEXT_LINE_BYTES, of_sheets=True, on_disk=True)
    problems = Problems("traces")
    records = list(trace_records(source, options, problems))
    problems.raise_if_any()
    return records


def line(**more: Any) -> str:
    return json.dumps({"user_input": "Why?", "response": "So.", "retrieved_contexts": ["Water."]} | more)


def sheet(*cells: str) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([["q", "a", "c", "i"], cells])
    return out.getvalue()


@pytest.mark.parametrize(
    ("form", "number"), [("[{},\n{}]\n\n[{}]", 4), ("[{}, {}] {}", 1), ("[{},\n{}\n], {}", 3)]
)
def test_what_stands_behind_a_list_is_refused(tmp_path: Path, form: str, number: int) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, form.format(line(), line(user_input="Who?"), line(user_input="When?")))
    [problem] = refused.value.problems
    assert (problem.line, problem.field) == (number, "line")
    assert problem.expected.startswith("nothing behind the list, which ends on line ")


def test_an_object_over_several_lines_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, json.dumps(json.loads(line()), indent=2))
    [problem] = refused.value.problems
    assert (problem.line, problem.expected.partition(" (")[0]) == (
        1,
        "one JSON object a line, this one goes over several lines",
    )


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "BOM"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize(
    "form",
    [
        "{}\n{}\n",
        "[{},\n{}]",
        "[\n  {}\n  ,\n\n  {}\n]\n",
        "[{}, {}]",
    ],
    ids=["lines", "list", "spread list", "one line"],
)
def test_lines_and_lists_are_the_same_traces(tmp_path: Path, form: str, end: str, mark: str) -> None:
    rows = line(response='It said "[{" \\" and }].', extra=[{"a": [1, "]"]}]), line(user_input="Who?")
    records = read(tmp_path, (mark + form.format(*rows)).replace("\n", end))
    assert [(record.question, record.answer) for record in records] == [
        ("Why?", 'It said "[{" \\" and }].'),
        ("Who?", "So."),
    ]


def test_items_of_a_list_have_the_lines_on_which_they_begin(tmp_path: Path) -> None:
    rows = [json.loads(line()), json.loads(line(user_input="Who?"))]
    text = "\n\n" + json.dumps(rows, indent=1)
    assert [record.line for record in read(tmp_path, text)] == [
        4,
        4 + json.dumps(rows[0], indent=1).count("\n") + 1,
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_quoted_cells_keep_their_lines_commas_and_quotes(tmp_path: Path, end: str) -> None:
    text = f'q,a,c,i{end}"Why, then?","He said ""so"".\n\nAnd, again.","Water; air",{end}'
    [record] = read(tmp_path, text, SHEET)
    assert (record.question, record.answer) == ("Why, then?", 'He said "so".\n\nAnd, again.')
    assert [context.text for context in record.contexts] == ["Water; air"]


@pytest.mark.parametrize(
    ("contexts", "texts"),
    [
        ("", []),
        ("[]", []),
        ('["Water."]', ["Water."]),
        ('[{"page_content": "Air."}]', ["Air."]),
        ("Air.", ["Air."]),
    ],
)
def test_an_answer_may_have_no_contexts(tmp_path: Path, contexts: str, texts: list[str]) -> None:
    [record] = read(tmp_path, sheet("Why?", "So.", contexts, ""), SHEET)
    assert [context.text for context in record.contexts] == texts


def test_contexts_that_are_null_or_not_there_are_none(tmp_path: Path) -> None:
    without = json.loads(line())
    del without["retrieved_contexts"]
    text = f"{line(retrieved_contexts=None)}\n{json.dumps(without)}\n"
    assert [record.contexts for record in read(tmp_path, text)] == [(), ()]


HUMAN, AI = {"type": "human", "content": "Why?"}, {"type": "ai", "content": "So?"}


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (line(user_input=[AI]), RAGAS, "traces:1: user_input: a text, found null"),
        (line(user_input=[]), RAGAS, "traces:1: user_input: a text, found null"),
        (
            line(user_input=[HUMAN | {"content": " "}]),
            RAGAS,
            "traces:1: user_input: a text, found one without any",
        ),
        (line(retrieved_contexts=[None]), RAGAS, "traces:1: retrieved_contexts.0: a text, found null"),
        (line(retrieved_contexts=[["Water."]]), RAGAS, "traces:1: retrieved_contexts.0: a text, found a list"),
        (
            line(retrieved_contexts=7),
            RAGAS,
            "traces:1: retrieved_contexts: a JSON list of texts, found an integer",
        ),
        (sheet("Why?", "So.", '["Water.', ""), SHEET, "traces:2: c: a JSON list of texts, found"),
        (sheet("Why?", "So.", "Water.", "w#1"), SHEET, "traces:2: i: a JSON list of ids, found 'w#1'"),
        (
            sheet("Why?", "So.", "Water.", '["a", "b"]'),
            SHEET,
            "traces:2: i: as many ids as contexts, 1, found 2",
        ),
        (
            line(retrieved_contexts=["Water.", "Ice."], retrieved_context_ids=["w"]),
            RAGAS,
            "traces:1: retrieved_context_ids: as many ids as contexts, 2, found 1",
        ),
        (sheet("Why?", "", "", ""), SHEET, "traces:2: a: a text, found null (skip such rows)"),
        (
            "q,a,c,t\nWhy?,So.,Water.,all\n",
            TraceOptions(run="bot", names=TraceMap(question="q", answer="a", contexts="c", topic_id="t")),
            "traces:2: t: an id other than all",
        ),
        ("q,a,c,i\nWhy?,So.\n", SHEET, "traces:2: columns: 4 columns as in the header, found 2"),
        ('q,a,c,i\nWhy?,"So.', SHEET, "traces:2: line: valid CSV"),
        ("q,a,c,q\nWhy?,So.,,\n", SHEET, "traces:1: header: every column once"),
        ("q,a\nWhy?,So.\n", SHEET, "contexts: no column 'c' (columns: q, a)"),
        ("a,b\n1,2\n", RAGAS, "form: none fits; keys seen: a, b"),
        (f"[{line()}", RAGAS, "traces:1: line: valid JSON: a list of objects"),
        (f"[{line()},\n{line()[:-5]}]", RAGAS, "traces:2: line: valid JSON"),
        (f"[{line()}, 7]", RAGAS, "traces:1: line: an object, found an integer"),
        (line()[:-1] + ', "response": "No."}', RAGAS, "traces:1: response: `response` once, it is there twice"),
    ],
)
def test_what_is_no_trace_is_refused_at_its_place(
    tmp_path: Path, content: str, options: TraceOptions, words: str
) -> None:
    with pytest.raises(Refused) as refused:
        read(tmp_path, content, options)
    assert words in str(refused.value)


def test_contexts_that_are_no_list_are_one_problem(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, line(retrieved_contexts=7, retrieved_context_ids=["w"]))
    assert [problem.field for problem in refused.value.problems] == ["retrieved_contexts"]
