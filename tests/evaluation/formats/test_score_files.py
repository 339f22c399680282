"""Score files by topic in five forms: out and in again equal, and told apart by what their columns hold."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import BadInput
from evaluation.formats.lines import id_problem
from evaluation.formats.score_files import (
    FORMS,
    JudgeEntry,
    TopicScore,
    form_of,
    judge_of_file,
    parse_judges,
    parse_score_file,
)
from evaluation.formats.source import Source, read_source

TOPICS = {"t01", "t02"}
ids = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=9).filter(
    lambda text: id_problem(text) is None
)
scores = st.builds(
    lambda run, topic, measure, value: TopicScore(1, run, topic, measure, value),
    *(ids, ids | st.just("all"), ids, st.floats(-1e100, 1e100)),
)


def as_source(*lines: str, name: str = "judgeA.eval.txt") -> Source:
    return Source(name, "", tuple(enumerate(lines, 1)))


def problems_of(act: Callable[[], object]) -> list[str]:
    with pytest.raises(BadInput) as wrong:
        act()
    return [str(problem) for problem in wrong.value.problems]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(st.lists(scores, min_size=1, unique_by=lambda score: score.key))
def test_what_a_form_writes_comes_back_as_it_was(form: object, rows: list[TopicScore]) -> None:
    written = FORMS[form.name]  # type: ignore[attr-defined]
    if written.is_of_one_run:
        rows = list({replace(row, run_id="a.run").key: replace(row, run_id="a.run") for row in rows}.values())
    source = as_source(*(written.line(row, repr(row.value)) for row in rows), name="folder/a.run")
    expected = tuple(replace(row, line=line) for line, row in enumerate(rows, 1))
    assert parse_score_file(source, written) == expected


def test_the_tool_s_own_two_files_of_a_judge_are_equal(shared_data: Path) -> None:
    tot, ir_measures = (
        parse_score_file(read_source(shared_data / "autojudge-scores" / f"judgeA.{name}.txt"), FORMS[form])
        for name, form in (("eval", "tot"), ("ir_measures", "ir_measures"))
    )
    assert tot == ir_measures
    assert len(tot) == 49


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("GRADE t01 0.5", "trec_eval"),
        ("r1 GRADE t01 0.5", "tot"),
        ("r1 t01 GRADE 0.5", "ir_measures"),
        ("r1 all GRADE 0.5", "ir_measures"),
        ("r1 all t01 0.5", "tot"),
        ("t01 Q0 r1 0 0.5 GRADE", "ranking"),
        ('{"run_id": "r1", "topic_id": "t01", "measure": "GRADE", "value": 0.5}', "jsonl"),
        ("run_id,all", "csv"),
        ("run_id, group, all, vital", "csv"),
        ("run_id ,group, all", "csv"),
        ("r1 P@1,000 t01 0.5", "tot"),
        ("r1 GRADE t01 0,5", "tot"),
        ("r1 GRADE GRADE 0.5", ""),
        ("r1 t02 t01 0.5", ""),
        ("r1 GRADE", ""),
    ],
)
def test_a_file_s_form_is_told_by_its_columns(line: str, form: str) -> None:
    assert form_of(as_source(line), TOPICS) == form


def test_a_header_is_no_row() -> None:
    source = as_source("run_id request_id metric value", "r1 t01 f1 0.5")
    assert form_of(source, TOPICS, has_header=True) == "ir_measures"
    assert len(parse_score_file(source, FORMS["ir_measures"], has_header=True)) == 1


def test_the_row_in_which_trec_eval_names_the_run_is_no_score() -> None:
    source = as_source("runid \tall\tSTANDARD", "map \tt01\t0.5", "map \tall\t0.5")
    assert form_of(source, TOPICS) == "trec_eval"
    rows = parse_score_file(source, FORMS["trec_eval"], topics=TOPICS)
    assert [(row.run_id, row.topic_id, row.value) for row in rows] == [
        ("judgeA.eval.txt", "t01", 0.5),
        ("judgeA.eval.txt", "all", 0.5),
    ]
    with pytest.raises(BadInput, match="rows with scores"):
        parse_score_file(as_source("runid \tall\tSTANDARD"), FORMS["trec_eval"], topics=TOPICS)


def test_true_and_false_are_one_and_zero() -> None:
    rows = parse_score_file(as_source("r1 ok t01 True", "r1 ok t02 False"), FORMS["tot"])
    assert [row.value for row in rows] == [1.0, 0.0]
    line = '{"run_id": "r1", "topic_id": "t01", "measure": "ok", "value": true}'
    assert parse_score_file(as_source(line), FORMS["jsonl"])[0].value == 1.0


def test_an_id_that_is_an_integer_is_its_digits() -> None:
    line = '{"run_id": 7, "topic_id": 101, "measure": "ok", "value": 0.5}'
    [row] = parse_score_file(as_source(line), FORMS["jsonl"], topics={"101"})
    assert (row.run_id, row.topic_id) == ("7", "101")


def test_each_refusal_names_file_line_and_field() -> None:
    lines = ["r1 GRADE t01 0.5", "r1 GRADE t02 0.5", "r1 GRADE 0.5", "r1 t01 GRADE 0.5"]
    lines += ["r1 GRADE t03 0.5", "r2 GRADE t01 nan", "r1 GRADE t02 0.6", "=1+1 GRADE t01 1"]
    assert problems_of(lambda: parse_score_file(as_source(*lines), FORMS["tot"], topics=TOPICS)) == [
        "judgeA.eval.txt:3: columns: 4 (run measure topic value), found 3",
        "judgeA.eval.txt:4: topic: a topic of the campaign, found 'GRADE' (is this ir_measures?)",
        "judgeA.eval.txt:5: topic: a topic of the campaign, found 't03'",
        "judgeA.eval.txt:6: value: a finite number (to 1e100), True or False, found 'nan'",
        "judgeA.eval.txt:7: row: run r1, topic t02, measure GRADE once, it is on line 2 too (duplicate)",
        "judgeA.eval.txt:8: run: something that does not begin with = + - @ (a spreadsheet would run it)",
    ]


@pytest.mark.parametrize("value", ["inf", "1e999", "1e101", "9" * 400, "1_000", "high", "0x1"])
def test_a_value_is_a_finite_number(value: str) -> None:
    assert "a finite number" in problems_of(lambda: parse_score_file(as_source(f"r t m {value}"), FORMS["tot"]))[0]


def test_a_json_row_is_strict() -> None:
    lines = ['{"run_id": "r1", "topic_id": "t01", "measure": "m", "value": "0.5"}', '{"run_id": "r1"}']
    found = problems_of(lambda: parse_score_file(as_source(*lines), FORMS["jsonl"]))
    assert found[0] == "judgeA.eval.txt:1: value: a number, found a string"
    assert found[1].startswith("judgeA.eval.txt:2: ")
    assert "judgeA.eval.txt:2: topic_id: a value, the field is missing" in found


@pytest.mark.parametrize("value", ["9" * 400, "-1" + "0" * 400, "1e999", "1" + "0" * 100 + "1", "9" * 5000])
def test_a_number_beyond_all_bounds_is_told_so(value: str) -> None:
    row = f'{{"run_id": "r1", "topic_id": "t01", "measure": "m", "value": {value}}}'
    [problem] = problems_of(lambda: parse_score_file(as_source(row), FORMS["jsonl"]))
    assert re.search("value: a finite number|number out of range", problem), problem


JUDGES = """\
judges:
  judgeA.eval.txt: {name: Umbrela, method: pointwise, model: gpt-4o}
  judgeB.eval: {name: Argue}
styles: {method: color}
"""


def test_judges_are_found_by_the_name_of_their_file_with_or_without_its_ending() -> None:
    judges = parse_judges(as_source(*JUDGES.splitlines()))
    assert judge_of_file("in/judgeA.eval.txt", judges) == JudgeEntry("Umbrela", "pointwise", "gpt-4o")
    assert judge_of_file("judgeB.eval.txt", judges) == JudgeEntry("Argue")
    assert judge_of_file("judgeC.eval.txt", judges) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("judges: {a: [}", "judges.yml:1: file: valid YAML"),
        ("judges: {? [a] : {name: A}}", "judges.yml:1: file: valid YAML"),
        ("judges: {a: {method: x}}", "judges.yml:1: judges.a.name: a value, the field is missing"),
        ("judges: {a: {name: 5}}", "judges.yml:1: judges.a.name: a string, found an integer"),
        ("- a", "judges.yml:1: line: an object, found a list"),
        ("[" * 5000, "judges.yml:1: file: valid YAML"),
        ("judges: {a: {name: A, day: 2001-02-30}}", "judges.yml:1: file: valid YAML"),
        (f"judges: {'9' * 5000}", "judges.yml:1: file: valid YAML"),
        ("judges: {a: {name: A}, b: {name: B}, a: {name: C}}", "judges.yml:1: file: `a` once, it is there twice"),
        (
            r'judges: {a: {name: A, method: "x\0"}}',
            "judges.yml:1: judges.a.method: a name without control characters, white space around it, "
            "or invisible characters there",
        ),
    ],
)
def test_a_wrong_file_of_judges_is_refused(text: str, problem: str) -> None:
    assert problems_of(lambda: parse_judges(as_source(text, name="judges.yml"))) == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "judges:\n\n  a: {name: A}\n  b:\n    name: B\n    model: 5\n",
            "6: judges.b.model: a string, found an integer",
        ),
        ("judges:\n  a: {name: A}\n  b: {}\n", "3: judges.b.name: a value, the field is missing"),
        (
            "judges:\n  a: {name: A, model: m}\n  b: {name: B}\n  c:\n    name: A\n    model: n\n",
            "6: judges.c.model: 'm', as a has it for A, found 'n'",
        ),
        (
            "judges:\n  a: &a {name: A, model: m}\n  b:\n    <<: *a\n    model: n\n",
            "5: judges.b.model: 'm', as a has it for A, found 'n'",
        ),
    ],
)
def test_what_is_wrong_with_a_judge_is_said_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "judges.yml"
    file.write_text(text, encoding="utf-8")
    assert problems_of(lambda: parse_judges(read_source(file))) == [f"{file}:{problem}"]
