"""Segment texts from segment files and from candidate files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.segments import SegmentRecord, document_id, names_any, parse_segments
from evaluation.formats.source import Source, read_source
from tests.evaluation.formats.writing import segment_line

Read = Callable[[str], Source]


def test_a_segment_of_ms_marco(source: Read) -> None:
    row = SegmentRecord(1, "d#0", "t", "u", "h", "x", 0, 9)
    assert parse_segments(source(segment_line(row))) == (row,)


@pytest.mark.parametrize(
    "line",
    [
        {"docid": "d", "text": "x"},
        {"id": "d", "contents": "x"},
        {"docid": "d", "doc": "x"},
        {"docid": "d", "doc": {"text": "x"}},
        {"id": "d", "doc": {"contents": "x"}},
        {"query": "q", "candidates": [{"docid": "d", "doc": "x"}]},
        {"query": "q", "candidates": [{"docid": "d", "doc": {"text": "x"}}]},
        {"query": "q", "candidates": [{"docid": "d", "score": 1.5, "doc": {"segment": "x"}}]},
        {"query": {"qid": 1, "text": "q"}, "candidates": [{"docid": "d", "contents": "x"}]},
        {"query": {"qid": "", "text": "q"}, "candidates": [{"docid": "d", "doc": "x"}]},
        {"query": "q", "candidates": [{"score": 1, "doc": {"docid": "d", "contents": "x"}}]},
    ],
)
def test_other_forms(source: Read, line: dict[str, Any]) -> None:
    assert parse_segments(source(json.dumps(line))) == (SegmentRecord(1, "d", "", "", "", "x", None, None),)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"docid": "d", "doc": {"docid": "e", "text": "x"}}, "doc.docid"),
        ({"id": "d", "doc": {"docid": "e", "text": "x"}}, "doc.docid"),
        ({"id": "d", "doc": {"id": "e", "text": "x"}}, "doc.id"),
        (
            {"query": "q", "candidates": [{"docid": "d", "doc": {"docid": "e", "text": "x"}}]},
            "candidates.0.doc.docid",
        ),
    ],
)
def test_a_passage_with_two_docids_is_refused(source: Read, line: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_segments(source(json.dumps({"docid": "a", "text": "y"}) + "\n" + json.dumps(line)))
    [problem] = refused.value.problems
    assert (problem.line, problem.field, problem.expected) == (2, field, "the docid of the passage, d, found e")


@pytest.mark.parametrize("text", ["", " \n", "\u200b"])
@pytest.mark.parametrize(
    ("line", "field"),
    [
        (lambda text: {"docid": "d", "doc": text}, "doc"),
        (lambda text: {"docid": "d", "doc": {"text": text}}, "doc.text"),
        (lambda text: {"query": "q", "candidates": [{"docid": "d", "doc": text}]}, "candidates.0.doc"),
        (lambda text: {"candidates": [{"docid": "d", "text": text}]}, "candidates.0.text"),
    ],
)
def test_an_empty_text_is_refused_by_the_field_that_has_it(
    source: Read, line: Callable[[str], object], field: str, text: str
) -> None:
    with pytest.raises(BadInput) as refused:
        parse_segments(source(json.dumps(line(text))))
    [problem] = refused.value.problems
    assert (problem.line, problem.field, problem.expected) == (1, field, "a text that is not empty")


@pytest.mark.parametrize("doc", [{"docid": "d"}, {"id": 7}, {"docid": "d", "id": 7}])
def test_the_same_docid_twice_or_the_number_of_a_row_is_none(source: Read, doc: dict[str, Any]) -> None:
    line = json.dumps({"docid": "d", "id": 12, "doc": {**doc, "text": "x"}})
    assert [row.docid for row in parse_segments(source(line))] == ["d"]


def test_a_candidate_of_several_queries_is_one_segment(source: Read) -> None:
    line = json.dumps({"query": "q", "candidates": [{"docid": "d", "doc": {"segment": "x"}}] * 2})
    assert len(parse_segments(source(f"{line}\n{line}"))) == 1


def test_only_needed_segments_are_parsed(source: Read) -> None:
    content = '{"docid": "d", "segment": "x"}\n{"docid": "e", broken}\n{"id": "f", "text": "y"}\n'
    assert [row.docid for row in parse_segments(source(content), {"d", "f"})] == ["d", "f"]


def test_only_needed_candidates_are_kept(source: Read) -> None:
    candidates = [{"docid": docid, "doc": {"segment": "x"}} for docid in "abc"]
    line = json.dumps({"query": "q", "candidates": candidates})
    assert [row.docid for row in parse_segments(source(line), {"b"})] == ["b"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"docid": "d", "segment": "x"}, True),
        ({"docid": "e", "segment": 'he wrote "docid": "d"'}, False),
        ({"docid": 'odd"d', "segment": "x"}, True),
        ({"docid": 12, "segment": "x"}, True),
    ],
)
def test_the_cheap_filter_errs_on_the_side_of_reading(line: dict[str, Any], expected: bool) -> None:
    assert names_any({"d"})(json.dumps(line)) is expected


def test_the_document_of_a_segment() -> None:
    assert document_id("msmarco_v2.1_doc_00_1#4_22") == "msmarco_v2.1_doc_00_1"
    assert document_id("plain") == "plain"


def test_real_segments(data: Path) -> None:
    rows = parse_segments(read_source(data / "qampari-list-qa/segments.jsonl"))
    assert len(rows) == 1001
    assert all(row.text for row in rows)
