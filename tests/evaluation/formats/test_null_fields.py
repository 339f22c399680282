"""A field that may be left out may be null: tables are written so, of which a row has no value in a column."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.battles import parse_battles, parse_tasks
from evaluation.formats.citation_judgments import parse_support
from evaluation.formats.runs import parse_run
from evaluation.formats.source import Source
from evaluation.formats.topics import parse_topics
from evaluation.terms import StudyKind
from reports.random_checks.importing import parse_random_check

Read = Callable[[str], Source]
PAIR = {"run_id": "a", "topic_id": "t1"}
SIDES = {"qid": "t1", "assistant_a_run_id": "a", "assistant_b_run_id": "b"}


def parse_checked(source: Source) -> object:
    return parse_random_check(source, StudyKind.ASSIGNMENT, ())


FILES: list[tuple[Callable[[Source], object], dict[str, Any], list[str]]] = [
    (parse_topics, {"id": "t1", "title": "why"}, ["tags", "language", "limit", "background"]),
    (parse_run, PAIR | {"references": [], "answer": [{"text": "So."}]}, ["sample", "documents", "type"]),
    (parse_assignments, {"qid": "t1", "run_id": "a", "nuggets": [{"text": "bends"}]}, ["sample", "query"]),
    (parse_support, PAIR | {"sentence": 0, "docid": "d1", "label": "full_support"}, ["sample", "judge", "reason"]),
    (parse_support, PAIR | {"sentences": [{"sentenceID": 0, "citations": []}]}, ["sample", "narrative_id"]),
    (
        parse_battles,
        {"topic_id": "t1", "left": "a", "right": "b", "verdict": "left"},
        ["reasons", "reason", "round", "second", "judge", "place", "stayed", "seconds"],
    ),
    (parse_battles, SIDES | {"judge_verdict": "A"}, ["status", "pair", "model", "preferred_run_id"]),
    (parse_tasks, {"metadata": SIDES}, ["task_id"]),
    (parse_checked, PAIR | {"nugget": "bends", "label": "support"}, ["occurrence", "sample", "labels"]),
]


@pytest.mark.parametrize(("parse", "row", "fields"), FILES)
def test_a_null_is_read_as_nothing(
    source: Read, parse: Callable[[Source], object], row: dict[str, Any], fields: list[str]
) -> None:
    assert parse(source(json.dumps(row | dict.fromkeys(fields)))) == parse(source(json.dumps(row)))


def test_a_nugget_of_a_random_check_is_named_as_in_its_list(source: Read) -> None:
    [record] = parse_random_check(
        source(json.dumps(PAIR | {"nugget": " bends \u200b", "label": "support"})), StudyKind.ASSIGNMENT, ()
    )
    assert record.key == ("a", "t1", "bends", 0)


def test_an_empty_label_of_a_random_check_is_refused(source: Read) -> None:
    with pytest.raises(BadInput, match="not_support, partial_support, support, cant_judge, found ''"):
        parse_checked(source(json.dumps(PAIR | {"nugget": "bends", "label": ""})))
