"""Rubrics and graded criteria: both forms are read as nuggets and their labels, and leave as they came."""

import json
from dataclasses import replace
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.argue import parse_lists
from evaluation.formats.assignments import graded_line, parse_assignments
from evaluation.formats.nuggets import NO_AVOID, research_rubrics_line, rubric_line
from evaluation.formats.source import Source
from evaluation.labels import AssignmentLabel
from evaluation.terms import Importance

RANGE = "a number from -100 to 100 with at most 3 decimals"
CRITERIA: list[dict[str, Any]] = [
    {"text": "Yeast makes gas", "type": "facts", "tier": "mandatory", "weight": 5, "source_nugget": "n1"},
    {"text": "Clear headings", "type": "form", "tier": "optional", "weight": 0.125},
    {"text": "Yeast is a metal", "weight": -3},
]
RUBRIC = {"qid": "1", "query": "bread", "criteria": CRITERIA, "status": "ok"}
RESEARCH = {
    "qid": "1",
    "rubrics": [{"criterion": "Yeast makes gas", "weight": 4.0, "axis": "facts"}],
    "domain": "food",
}


def source(*lines: dict[str, Any]) -> Source:
    return Source("bread.jsonl", "", tuple(enumerate(map(json.dumps, lines), 1)))


def problems(error: pytest.ExceptionInfo[BadInput]) -> list[tuple[int, str, str]]:
    return [(problem.line, problem.field, problem.expected) for problem in error.value.problems]


def test_a_rubric_is_a_list_of_nuggets() -> None:
    [row] = parse_lists(source(RUBRIC))
    assert (row.topic_id, row.query, row.extra) == ("1", "bread", {"status": "ok"})
    first, second, third = row.nuggets
    assert (first.text, first.importance, first.group, first.weight) == (
        *("Yeast makes gas", Importance.VITAL),
        *("facts", 5),
    )
    assert first.extra == {"source_nugget": "n1"}
    assert (second.importance, second.weight) == (Importance.OKAY, 0.125)
    assert (third.importance, third.raw_importance, third.weight) == (Importance.UNKNOWN, "", -3)
    [row] = parse_lists(source(RESEARCH))
    assert [(nugget.text, nugget.group, nugget.weight) for nugget in row.nuggets] == [
        ("Yeast makes gas", "facts", 4.0)
    ]
    assert row.extra == {"domain": "food"}


@pytest.mark.parametrize(("tier", "importance"), [("Mandatory", "vital"), (" OPTIONAL", "okay"), ("Must", "Must")])
@pytest.mark.parametrize(("key", "text"), [("criteria", "text"), ("rubrics", "criterion")])
def test_a_tier_is_read_in_any_case(key: str, text: str, tier: str, importance: str) -> None:
    criterion = {text: "Yeast makes gas", "tier": tier, "weight": 5}
    [row] = parse_lists(source({"qid": "1", key: [criterion]}))
    assert [nugget.raw_importance for nugget in row.nuggets] == [importance]
    graded = {"qid": "1", "run_id": "r", "criteria": [{"text": "a", "tier": tier, "verdict": "satisfied"}]}
    assert [label.importance for row in parse_assignments(source(graded)) for label in row.labels] == [importance]


@pytest.mark.parametrize("write", [rubric_line, research_rubrics_line])
@pytest.mark.parametrize("line", [RUBRIC, RESEARCH])
def test_both_forms_are_read_back_equal(write: Any, line: dict[str, Any]) -> None:
    rows = parse_lists(source(line))
    assert parse_lists(source(*(json.loads(write(row)) for row in rows))) == rows


def test_what_is_no_criterion_is_refused_with_its_field() -> None:
    wrong: list[dict[str, Any]] = [
        {"qid": "1", "rubrics": [{"criterion": "a", "weight": 1}, {"criterion": "b"}]},
        {"qid": "2", "rubrics": [{"criterion": "a", "weight": "much"}]},
        {"qid": "3", "rubrics": [{"text": "a", "weight": 1}]},
        {"qid": "4", "rubrics": [{"criterion": "a", "weight": 100.5}]},
        {"qid": "5", "rubrics": [{"criterion": "a", "weight": -100.5}]},
        {"qid": "6", "rubrics": [{"criterion": "a", "weight": 0.0625}]},
        {"qid": "7", "rubrics": [{"criterion": "a", "weight": True}]},
        {"qid": "8", "rubrics": [{"criterion": "a", "tier": "avoid"}]},
        {"qid": "9", "rubrics": [{"criterion": "a", "tier": "avoid", "weight": 3}]},
        {"qid": "10", "rubrics": [{"criterion": "a", "axis": 3}]},
    ]
    with pytest.raises(BadInput) as refused:
        parse_lists(source(*wrong))
    assert problems(refused) == [
        (1, "rubrics.1.weight", "a number, as the 1 other of this list has one"),
        (2, "rubrics.0.weight", "a number, found a string"),
        (3, "rubrics.0.criterion", "a value, the field is missing"),
        (4, "rubrics.0.weight", f"{RANGE}, found 100.5"),
        (5, "rubrics.0.weight", f"{RANGE}, found -100.5"),
        (6, "rubrics.0.weight", f"{RANGE}, found 0.0625"),
        (7, "rubrics.0.weight", "a number, found true or false"),
        (8, "rubrics.0.tier", f"{NO_AVOID}, found 'avoid'"),
        (9, "rubrics.0.tier", f"{NO_AVOID}, found 'avoid'"),
        (10, "rubrics.0.axis", "a string, found an integer"),
    ]


def test_what_is_no_graded_criterion_is_refused_with_its_field() -> None:
    wrong: list[dict[str, Any]] = [
        {"qid": "1", "run_id": "r", "criteria": [{"text": "a", "verdict": 1}]},
        {"qid": "2", "run_id": "r", "criteria": [{"text": "a", "weight": 100.5}]},
        {"qid": "3", "run_id": "r", "criteria": [{"text": "a", "tier": "avoid"}]},
        {"qid": "4", "run_id": "r", "criteria": [{"text": " "}]},
        {"qid": "5", "criteria": []},
        {"qid": "6", "run_id": "r", "criteria": {}},
        {"qid": "7", "run_id": "r", "criteria": []},
        {"qid": "7", "run_id": "r", "criteria": []},
        {"qid": "8", "run_id": "r", "criteria": [{"text": "a", "assignment": "support"}]},
    ]
    with pytest.raises(BadInput) as refused:
        parse_assignments(source(*wrong))
    assert problems(refused) == [
        (1, "criteria.0.verdict", "a string, found an integer"),
        (2, "criteria.0.weight", f"{RANGE}, found 100.5"),
        (3, "criteria.0.tier", f"{NO_AVOID}, found 'avoid'"),
        (4, "criteria.0.text", "a text that is not empty"),
        (5, "run_id", "a value, the field is missing"),
        (6, "criteria", "a list, found an object"),
        (8, "run_id", "topic 7 of run r once, it is on line 7 too (duplicate)"),
        (9, "criteria.0.assignment", "`verdict`, as labels are called among criteria"),
    ]


@pytest.mark.parametrize("key", ["verdict", "label"])
def test_a_label_under_another_name_is_not_left_aside(key: str) -> None:
    nuggets = [{"text": "a", "assignment": "support"}, {"text": "b", key: "support"}, {"text": "c"}]
    with pytest.raises(BadInput) as refused:
        parse_assignments(source({"qid": "1", "run_id": "r", "nuggets": nuggets}))
    assert problems(refused) == [(1, f"nuggets.1.{key}", "`assignment`, as labels are called among nuggets")]
    # Programs that write every column write this one, too.
    with pytest.raises(BadInput):
        parse_assignments(
            source({"qid": "1", "run_id": "r", "nuggets": [{"text": "b", "assignment": None, key: "support"}]})
        )
    nuggets[1]["assignment"] = "not_support"
    [row] = parse_assignments(source({"qid": "1", "run_id": "r", "nuggets": nuggets}))
    assert [label.text for label in row.labels] == ["a", "b"]


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("satisfied", AssignmentLabel.SUPPORT),
        ("Partially Satisfied", AssignmentLabel.PARTIAL_SUPPORT),
        ("PARTIALLY_SATISFIED", AssignmentLabel.PARTIAL_SUPPORT),
        ("not satisfied", AssignmentLabel.NOT_SUPPORT),
        ("support", AssignmentLabel.FAILED),
        ("perhaps", AssignmentLabel.FAILED),
    ],
)
def test_verdicts_are_labels_in_any_case_with_space_or_underscore(word: str, label: AssignmentLabel) -> None:
    [row] = parse_assignments(source({"qid": "1", "run_id": "r", "criteria": [{"text": "a", "verdict": word}]}))
    assert [(given.label, given.raw) for given in row.labels] == [
        (label, word if label is AssignmentLabel.FAILED else "")
    ]


def test_graded_criteria_are_read_back_equal() -> None:
    verdicts = ("satisfied", "perhaps", None)
    criteria = [item | {"verdict": verdict} for item, verdict in zip(CRITERIA, verdicts, strict=True)]
    graded = source(
        {"qid": "1", "run_id": "r", "query": "bread", "criteria": [*criteria, criteria[0]], "by": "me"}
    )
    rows = parse_assignments(graded)
    assert [label.occurrence for label in rows[0].labels] == [0, 0, 1]
    assert parse_assignments(source(*(json.loads(graded_line(row)) for row in rows))) == rows
    told = replace(rows[0], labels=(rows[0].labels[0]._replace(label=AssignmentLabel.FAILED, raw="satisfied"),))
    assert '"verdict": "failed"' in graded_line(told)
