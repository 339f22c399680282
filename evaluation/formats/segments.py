"""Segment texts: MS MARCO V2.1 segments, `{docid|id, text|contents}`, and candidates of ragnarok/rank_llm."""

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Final

from evaluation.formats.lines import Count, Id, Line, Once, Text, json_rows
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source

# In a JSON string a quote is escaped, so a text that quotes JSON cannot match this.
DOCID: Final = re.compile(r'"(?:docid|id)"\s*:\s*"([^"\\]*)"')


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    line: int
    docid: str
    title: str
    url: str
    headings: str
    text: str
    start_char: int | None
    end_char: int | None

    @property
    def content(self) -> tuple[object, ...]:
        return self.text, self.title, self.headings, self.url, self.start_char, self.end_char


class SegmentLine(Line):
    """A segment: its text is the first of `segment`, `text`, `contents` that it has."""

    docid: Id | None = None
    id: Id | None = None
    title: str | None = None
    url: str | None = None
    headings: str | None = None
    segment: Text | None = None
    text: Text | None = None
    contents: Text | None = None
    start_char: Count | None = None
    end_char: Count | None = None


class CandidateLine(SegmentLine):
    """A candidate: the segment is in `doc`, or is the candidate itself."""

    doc: SegmentLine | None = None


class AnyLine(SegmentLine):
    candidates: list[CandidateLine] | None = None


def document_id(docid: str) -> str:
    """The document that a segment is part of: the part before `#`, or all of it."""
    return docid.partition("#")[0]


def names_any(needed: Container[str]) -> Callable[[str], bool]:
    """Cheap test whether a line may hold a needed segment, for `read_source(keep=...)`; true if only parsing tells."""

    def may_hold(text: str) -> bool:
        docids = DOCID.findall(text)
        return not docids or any(docid in needed for docid in docids)

    return may_hold


def parse_segments(source: Source, needed: Container[str] | None = None) -> tuple[SegmentRecord, ...]:
    """The segments in file order, only those whose docid is in `needed` if it is given.

    Lines without a needed docid are skipped unparsed. Equal repetitions are dropped (candidate files have many);
    raises `BadInput`, also for one docid with two texts.
    """
    problems = Problems(source.name)
    once = Once(problems, "docid")
    rows = tuple(
        row
        for row in _rows(_needed_only(source, needed), needed, problems)
        if once.is_new(row.line, row.docid, row.content, row.docid)
    )
    problems.raise_if_any()
    return rows


def _needed_only(source: Source, needed: Container[str] | None) -> Source:
    if needed is None:
        return source
    may_hold = names_any(needed)
    return Source(source.name, source.sha256, tuple(pair for pair in source.lines if may_hold(pair[1])))


def _rows(source: Source, needed: Container[str] | None, problems: Problems) -> Iterator[SegmentRecord]:
    for line, found in json_rows(source, AnyLine.model_validate_json, problems):
        for path, segment, docid in _segments(found):
            if docid is None:
                problems.add(line, f"{path}docid", "a docid (`docid` or `id`), the field is missing")
            elif needed is None or docid in needed:
                yield from _row(line, path, segment, docid, problems)


def _segments(found: AnyLine) -> Iterator[tuple[str, SegmentLine, str | None]]:
    if found.candidates is None:
        yield "", found, found.docid or found.id
        return
    for number, candidate in enumerate(found.candidates):
        segment = candidate.doc or candidate
        docid = candidate.docid or candidate.id or segment.docid or segment.id
        yield f"candidates.{number}.", segment, docid


def _row(line: int, path: str, found: SegmentLine, docid: str, problems: Problems) -> Iterator[SegmentRecord]:
    text = found.segment or found.text or found.contents
    if text is None:
        problems.add(line, f"{path}segment", "a text (`segment`, `text` or `contents`), the field is missing")
        return
    yield SegmentRecord(
        line=line,
        docid=docid,
        title=found.title or "",
        url=found.url or "",
        headings=found.headings or "",
        text=text,
        start_char=found.start_char,
        end_char=found.end_char,
    )
