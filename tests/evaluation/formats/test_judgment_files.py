"""Nugget lists, assignments, support judgments and published scores."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.formats.assignments import (
    AssignmentRecord,
    LabelRecord,
    UnjudgedRow,
    assignment_line,
    parse_assignments,
)
from evaluation.formats.citation_judgments import parse_support
from evaluation.formats.lines import id_problem
from evaluation.formats.nuggets import NuggetListRow, NuggetRecord, nugget_list_line, parse_nuggets
from evaluation.formats.scores import ScoreRecord, parse_scores
from evaluation.formats.source import Source, read_source
from evaluation.formats.support import SupportRecord, support_line
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.terms import Importance, RagTask, SupportCondition
from reports.metrics.registry import BY_NAME
from web.text import trimmed

Read = Callable[[str], Source]

ids = st.text(min_size=1, max_size=20).filter(lambda text: id_problem(text) is None)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
texts = words.map(trimmed).filter(bool)
extras = st.dictionaries(st.sampled_from(["source", "note", "id"]), words | st.integers(0, 9), max_size=2)
dirt = words.filter(lambda text: text not in {"vital", "okay", ""})
importances = st.sampled_from([(Importance.VITAL, "vital"), (Importance.OKAY, "okay"), (Importance.UNKNOWN, "")])
unknown_importances = dirt.map(lambda raw: (Importance.UNKNOWN, raw))
nuggets = st.builds(
    lambda text, importance, group, extra: NuggetRecord(text, importance[0], importance[1], group, extra),
    *(texts, importances | unknown_importances, words, extras),
)
known_labels = st.sampled_from([(label, "") for label in AssignmentLabel if label != AssignmentLabel.FAILED])
failures = st.sampled_from(["failed", "", "potential_support"]).map(lambda raw: (AssignmentLabel.FAILED, raw))


def as_source(*lines: str) -> Source:
    return Source("f", "", tuple(enumerate(lines, 1)))


@given(st.dictionaries(ids, st.tuples(words, st.lists(nuggets, max_size=4), extras), max_size=4))
def test_nugget_lists_come_back_as_written(
    lists: dict[str, tuple[str, list[NuggetRecord], dict[str, Any]]],
) -> None:
    rows = tuple(
        NuggetListRow(line, topic, query, tuple(items), extra)
        for line, (topic, (query, items, extra)) in enumerate(lists.items(), 1)
    )
    assert parse_nuggets(as_source(*map(nugget_list_line, rows))) == rows


@st.composite
def assignment_rows(draw: st.DrawFn) -> AssignmentRecord:
    labels, unjudged, seen = [], [], Counter[str]()
    for position in range(draw(st.integers(0, 5))):
        text = draw(st.sampled_from(["a", "b"]) | texts)
        place: dict[str, Any] = {"position": position, "occurrence": seen[text], "extra": draw(extras)}
        seen[text] += 1
        if draw(st.booleans()):
            label, raw = draw(known_labels | failures)
            labels.append(LabelRecord(text, label, raw, draw(words), **place))
        else:
            unjudged.append(UnjudgedRow(text, draw(words), **place))
    answer, length = draw(st.none() | words), draw(st.none() | st.integers(0, 999))
    return AssignmentRecord(
        *(1, draw(ids), draw(ids), tuple(labels), tuple(unjudged), answer, length, draw(words), draw(extras))
    )


@given(assignment_rows())
def test_assignments_come_back_as_written(row: AssignmentRecord) -> None:
    assert parse_assignments(as_source(assignment_line(row))) == (row,)


@given(ids, ids, st.integers(0, 99), st.sampled_from(SupportLabel), st.none() | st.sampled_from(SupportCondition))
def test_support_comes_back_as_written(
    run_id: str, docid: str, sentence: int, label: SupportLabel, condition: SupportCondition | None
) -> None:
    raw = "no idea" if label is SupportLabel.FAILED else ""
    row = SupportRecord(1, run_id, "1", sentence, docid, label, raw, condition, "Ann B", "why", {"x": 1})
    assert parse_support(as_source(support_line(row))).rows == (row,)


def nugget(**fields: Any) -> NuggetRecord:
    [row] = parse_nuggets(as_source(json.dumps({"qid": 1, "nuggets": [{"text": "n", **fields}]})))
    return row.nuggets[0]


@pytest.mark.parametrize("raw", ["okey", "failed", "Vital", ""])
def test_a_dirty_importance_is_unknown_and_told(raw: str) -> None:
    row = nugget(importance=raw)
    assert (row.importance, row.raw_importance) == (Importance.UNKNOWN, raw)


def test_a_draft_without_importance_is_nothing_to_tell() -> None:
    row = nugget()
    assert (row.importance, row.raw_importance) == (Importance.UNKNOWN, "")


def test_a_blank_importance_comes_back_blank() -> None:
    rows = parse_nuggets(as_source('{"qid": "1", "nuggets": [{"text": "n", "importance": ""}]}'))
    assert parse_nuggets(as_source(nugget_list_line(rows[0]))) == rows


def test_the_sub_narrative_is_the_group_and_other_keys_are_kept() -> None:
    row = nugget(importance="vital", mapped_sub_narrative="costs", source="original")
    assert (row.group, row.extra) == ("costs", {"source": "original"})


def test_an_empty_nugget_list_is_fine() -> None:
    [row] = parse_nuggets(as_source('{"qid": "1", "nuggets": [], "edit_meta": {"add_nugget": true}}'))
    assert (row.nuggets, row.extra) == ((), {"edit_meta": {"add_nugget": True}})


def test_labels_known_unknown_and_missing() -> None:
    given_labels = ["support", "can't say", "cant_judge", None, "failed", ""]
    items: list[dict[str, Any]] = [{"text": "n", "assignment": label} for label in given_labels]
    line = json.dumps({"qid": 1, "run_id": "r", "nuggets": [*items, {"text": "m"}]})
    [row] = parse_assignments(as_source(line))
    failed = AssignmentLabel.FAILED
    assert [(item.label, item.raw, item.occurrence) for item in row.labels] == [
        (AssignmentLabel.SUPPORT, "", 0),
        (failed, "can't say", 1),
        (AssignmentLabel.CANT_JUDGE, "", 2),
        (failed, "failed", 4),
        (failed, "", 5),
    ]
    assert row.unjudged == (UnjudgedRow("n", "", 3, 3, {}), UnjudgedRow("m", "", 6, 0, {}))


def test_a_failure_that_names_a_label_is_not_written_as_that_label() -> None:
    row = AssignmentRecord(1, "1", "r", (LabelRecord("n", AssignmentLabel.FAILED, "support"),))
    [found] = parse_assignments(as_source(assignment_line(row)))
    assert found.labels[0].label is AssignmentLabel.FAILED


def test_support_may_be_repeated_equally_and_judges_may_differ() -> None:
    row = SupportRecord(1, "r", "1", 0, "d", SupportLabel.FULL_SUPPORT, judge="Ann")
    other = SupportRecord(3, "r", "1", 0, "d", SupportLabel.NO_SUPPORT, judge="Ben")
    assert parse_support(as_source(*map(support_line, (row, row, other)))).rows == (row, other)


def test_published_scores(source: Read) -> None:
    content = "run_id,group,task,vital_strict,all,notes\nr1,lab,RAG,0.41,.5,x\n\nr2,,,,1e-1,y\n"
    assert parse_scores(source(content), BY_NAME) == (
        ScoreRecord(2, "r1", "lab", RagTask.RAG, {"vital_strict": 0.41, "all": 0.5}),
        ScoreRecord(4, "r2", "", None, {"all": 0.1}),
    )


def test_a_quoted_cell_over_lines_keeps_the_line_numbers(source: Read) -> None:
    rows = parse_scores(source('run_id,all,notes\nr1,0.5,"a\n\nb"\nr2,1,c\n'), BY_NAME)
    assert [(row.line, row.run_id) for row in rows] == [(2, "r1"), (5, "r2")]


def test_real_nuggets(data: Path) -> None:
    rows = parse_nuggets(read_source(data / "trec-rag-2024/nuggets.mistral.jsonl"))
    unknown = [nugget for row in rows for nugget in row.nuggets if nugget.importance is Importance.UNKNOWN]
    assert (len(rows), len(unknown)) == (301, 40)


def test_real_nuggets_of_2025(data: Path) -> None:
    rows = parse_nuggets(read_source(data / "trec-rag-2025/rag25-dev-nuggets.jsonl"))
    sizes = [len(row.nuggets) for row in rows]
    assert (len(rows), min(sizes), max(sizes)) == (22, 29, 90)
    assert all(nugget.group and nugget.extra["source"] for row in rows for nugget in row.nuggets)


@pytest.mark.parametrize(("name", "failed"), [("gpt-4o", 25), ("command-r-plus", 26)])
def test_real_assignments(data: Path, name: str, failed: int) -> None:
    path = data / f"trec-rag-2024/assignments.mistral/baseline_rag24.test_{name}_top20.jsonl"
    rows = parse_assignments(read_source(path))
    labels = Counter(label.label for row in rows for label in row.labels)
    assert (len(rows), labels[AssignmentLabel.FAILED]) == (301, failed)


def test_every_real_judgment_file_comes_back_as_written(data: Path) -> None:
    for path in data.glob("*/assignments*/**/*.jsonl"):
        rows = parse_assignments(read_source(path))
        lines = ((row.line, assignment_line(row)) for row in rows)
        assert parse_assignments(Source(path.name, "", tuple(lines))) == rows
