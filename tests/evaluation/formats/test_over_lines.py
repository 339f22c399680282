"""JSON that is a list, or is printed over several lines, where a file has an object a line."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.argue import parse_lists
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.battles import parse_battles, parse_tasks
from evaluation.formats.citation_judgments import parse_support
from evaluation.formats.runs import parse_run
from evaluation.formats.score_files import FORMS, form_of, parse_score_file
from evaluation.formats.segments import parse_segments
from evaluation.formats.source import Source
from evaluation.formats.topics import parse_topics

Read = Callable[[str], Source]
OBJECT = "one JSON object a line, this one goes over several lines (jq -c . FILE writes each on one)"
LIST = "one JSON object a line, this is a list over several lines (jq -c '.[]' FILE writes its lines)"
LIST_IN_LINE = "one JSON object a line, this is a list (jq -c '.[]' FILE writes its lines)"


def parse_scores(source: Source) -> object:
    return parse_score_file(source, FORMS[form_of(source, ())])


FILES: list[tuple[Callable[[Source], object], dict[str, Any]]] = [
    (parse_topics, {"id": "t1", "title": "why"}),
    (parse_run, {"run_id": "a", "topic_id": "t1", "references": [], "answer": [{"text": "So.", "citations": []}]}),
    (parse_segments, {"docid": "d1", "segment": "Water."}),
    (parse_segments, {"query": {"qid": "t1"}, "candidates": [{"docid": "d1", "doc": {"segment": "Water."}}]}),
    (parse_lists, {"qid": "t1", "nuggets": [{"text": "bends", "importance": "vital"}]}),
    (parse_lists, {"qid": "t1", "criteria": [{"text": "bends", "weight": 5}]}),
    (parse_assignments, {"qid": "t1", "run_id": "a", "nuggets": [{"text": "bends", "assignment": "support"}]}),
    (parse_support, {"run_id": "a", "topic_id": "t1", "sentence": 0, "docid": "d1", "label": "full_support"}),
    (parse_support, {"run_id": "a", "topic_id": "t1", "sentences": [{"sentenceID": 0, "citations": []}]}),
    (parse_battles, {"topic_id": "t1", "left": "a", "right": "b", "verdict": "left"}),
    (parse_battles, {"qid": "t1", "assistant_a_run_id": "a", "assistant_b_run_id": "b", "judge_verdict": "A"}),
    (parse_tasks, {"metadata": {"qid": "t1", "assistant_a_run_id": "a", "assistant_b_run_id": "b"}}),
    (parse_scores, {"run_id": "a", "topic_id": "t1", "measure": "GRADE", "value": 0.5}),
]


def said_of(parse: Callable[[Source], object], source: Source) -> list[tuple[int, str, str]]:
    with pytest.raises(BadInput) as refused:
        parse(source)
    return [(problem.line, problem.field, problem.expected) for problem in refused.value.problems]


@pytest.mark.parametrize("indent", [2, "\t"])
@pytest.mark.parametrize(("parse", "row"), FILES)
def test_it_is_refused_in_one_line(
    source: Read, parse: Callable[[Source], object], row: dict[str, Any], indent: int | str
) -> None:
    parse(source(json.dumps(row)))
    printed = json.dumps(row, indent=indent)
    begun = printed.replace("{\n", "{", 1)
    for text in (printed, f"\n{printed}\n{printed}", begun):
        line = 2 if text.startswith("\n") else 1
        assert said_of(parse, source(text)) == [(line, "line", OBJECT)]
    assert said_of(parse, source(json.dumps([row, row], indent=indent))) == [(1, "line", LIST)]
    assert said_of(parse, source(f"\n{json.dumps([row, row])}\n")) == [(2, "line", LIST_IN_LINE)]


def test_a_line_that_was_cut_is_said_to_end_too_soon(source: Read) -> None:
    whole = json.dumps({"id": "t2", "title": "how"})
    said = said_of(parse_topics, source(f'{{"id": "t1",\n{whole}\n'))
    assert [(line, text.partition(" at ")[0]) for line, _, text in said] == [
        (1, "valid JSON: EOF while parsing a value")
    ]
    assert said_of(parse_topics, source(f"{whole} {whole}")) == [
        (1, "line", "one JSON object, found more at column 30")
    ]


BANK = {"query_id": "t1", "nugget_bank": {"Why?": {"question": "Why?", "answers": {"So": {"answer": "So"}}}}}


def test_a_bank_alone_may_be_printed_so(source: Read) -> None:
    printed = json.dumps(BANK, indent=1)
    assert [row.topic_id for row in parse_lists(source(printed))] == ["t1"]
    assert [row.topic_id for row in parse_lists(source(printed.replace("{\n", "{", 1)))] == ["t1"]
    lines = len(printed.splitlines())
    several = said_of(parse_lists, source(f"{printed}\n\n{printed}"))
    assert several == [(1, "line", f"one JSON object, found more at line {lines + 2} column 1")]
