"""Segment texts: MS MARCO V2.1 segments, `{docid|id, text|contents}`, and candidates of ragnarok/rank_llm."""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import Count, Id, Line, Once, Text, json_rows
from evaluation.formats.problems import EMPTY_TEXT, JSON_NAMES, Problems
from evaluation.formats.source import Source
from web.text import trimmed

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


def as_segment(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else _object(value)


def as_doc(value: Any) -> Any:
    # A text has no field that could be named.
    if isinstance(value, str) and not trimmed(value):
        raise PydanticCustomError("empty_text", EMPTY_TEXT)
    return as_segment(value)


def _object(value: Any) -> Any:
    if value is not None and not isinstance(value, dict):
        kind = JSON_NAMES.get(type(value), "something else")
        raise PydanticCustomError("text_or_object", "a text or an object, found {kind}", {"kind": kind})
    return value


class DocLine(SegmentLine):
    """A segment of which `doc` may hold more: its text alone, or all of it."""

    doc: Annotated[SegmentLine | None, BeforeValidator(as_doc)] = None

    def values_of(self, key: str) -> dict[str, str]:
        """Return the values of the fields of a name, by their paths."""
        both = {key: getattr(self, key), f"doc.{key}": self.doc and getattr(self.doc, key)}
        return {path: text for path, text in both.items() if text is not None}


class QueryLine(Line):
    qid: Id | None = None


def as_query(value: Any) -> Any:
    fields = {} if isinstance(value, str) else _object(value)
    # Anserini writes an empty id of a search that names no topic.
    return None if fields and fields.get("qid") == "" else fields


def as_topic(value: Any, info: ValidationInfo) -> Any:
    # Of a passage alone the field is another program's.
    return value if value != "" and info.data.get("candidates") else None


class AnyLine(DocLine):
    query: Annotated[QueryLine | None, BeforeValidator(as_query)] = None
    candidates: list[DocLine] | None = None
    qid: Annotated[Id | None, BeforeValidator(as_topic)] = None

    @property
    def candidates_of(self) -> str:
        """The topic whose candidates these are; empty where the line does not say it, or has none."""
        topic_id = (self.query and self.query.qid) or self.qid
        return topic_id if topic_id and self.candidates else ""


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """The passages of a file. `candidates`: topic id and docid of those that are candidates of a topic, each once."""

    segments: tuple[SegmentRecord, ...]
    candidates: tuple[tuple[str, str], ...]


def document_id(docid: str) -> str:
    return docid.partition("#")[0]


def names_any(needed: Container[str]) -> Callable[[str], bool]:
    """Cheap test whether a line may hold a needed segment, for `read_source(keep=...)`; true if only parsing tells."""

    def may_hold(text: str) -> bool:
        docids = DOCID.findall(text)
        return not docids or any(docid in needed for docid in docids)

    return may_hold


def parse_segments(source: Source, needed: Container[str] | None = None) -> tuple[SegmentRecord, ...]:
    return parse_segment_file(source, needed).segments


@of_kind("segments", "passages, one a line")
def parse_segment_file(source: Source, needed: Container[str] | None = None) -> SegmentFile:
    """The segments in file order, only those whose docid is in `needed` if it is given.

    Lines without a needed docid are skipped unparsed. Equal repetitions are dropped (candidate files have many);
    raises `BadInput`, also for one docid with two texts.
    """
    problems = Problems(source.name)
    once = Once(problems, "docid")
    rows: list[SegmentRecord] = []
    candidates: dict[tuple[str, str], None] = {}
    for topic_id, path, row in _rows(_needed_only(source, needed), needed, problems):
        if topic_id:
            candidates[topic_id, row.docid] = None
        if once.is_new(row.line, row.docid, row.content, row.docid, f"{path}docid"):
            rows.append(row)
    problems.raise_if_any()
    return SegmentFile(tuple(rows), tuple(candidates))


def _needed_only(source: Source, needed: Container[str] | None) -> Source:
    if needed is None:
        return source
    may_hold = names_any(needed)
    return Source(source.name, source.sha256, tuple(pair for pair in source.lines if may_hold(pair[1])))


def _rows(
    source: Source, needed: Container[str] | None, problems: Problems
) -> Iterator[tuple[str, str, SegmentRecord]]:
    """Yield each segment behind the topic whose candidate it is, if any, and the path to it in its line."""
    for line, entry in json_rows(source, AnyLine.model_validate_json, problems):
        for path, segment in _segments(entry):
            doc = segment.doc or segment
            docid = segment.docid or segment.id or doc.docid or doc.id
            if docid is None:
                problems.add(line, f"{path}docid", "a docid (`docid` or `id`), the field is missing")
                continue
            # An `id` beside a `docid` may be the number of a row.
            note_other_docid(line, path, docid, segment.values_of("docid") or segment.values_of("id"), problems)
            if needed is None or docid in needed:
                for row in _row(line, path, segment, docid, problems):
                    yield entry.candidates_of, path, row


def note_other_docid(line: int, path: str, docid: str, values: Mapping[str, str], problems: Problems) -> None:
    """Note the fields, behind a path, that say another docid than the passage's."""
    for field, other in values.items():
        if other != docid:
            problems.add(line, f"{path}{field}", f"the docid of the passage, {docid}, found {other}")


def _segments(entry: AnyLine) -> Iterator[tuple[str, DocLine]]:
    if entry.candidates is None:
        yield "", entry
        return
    for number, candidate in enumerate(entry.candidates):
        yield f"candidates.{number}.", candidate


def _row(line: int, path: str, entry: DocLine, docid: str, problems: Problems) -> Iterator[SegmentRecord]:
    record = segment_record(line, docid, entry)
    if record is None:
        problems.add(
            line, f"{path}segment", "a text (`segment`, `text`, `contents` or `doc`), the field is missing"
        )
    else:
        yield record


def segment_record(line: int, docid: str, entry: DocLine) -> SegmentRecord | None:
    doc = entry.doc or entry
    text = _text(doc) or _text(entry)
    if text is None:
        return None
    return SegmentRecord(
        line=line,
        docid=docid,
        title=doc.title or entry.title or "",
        url=doc.url or entry.url or "",
        headings=doc.headings or entry.headings or "",
        text=text,
        start_char=entry.start_char if doc.start_char is None else doc.start_char,
        end_char=entry.end_char if doc.end_char is None else doc.end_char,
    )


def _text(entry: SegmentLine) -> str | None:
    return entry.segment or entry.text or entry.contents
