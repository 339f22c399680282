"""Topics: `id<TAB>text`, or JSONL with an id, a text, and what else the tracks of 2025 and 2026 say of a request."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field

from evaluation.formats.kinds import is_retrieval_run, of_kind
from evaluation.formats.languages import Language
from evaluation.formats.lines import MAX_INT, Id, Line, Once, Text, id_problem, json_rows, unless_null
from evaluation.formats.problems import Problems
from evaluation.formats.score_files import ALL
from evaluation.formats.source import Source

ID_KEYS: Final = ("id", "qid", "narrative_id", "topic_id", "request_id", "docid")
TEXT_KEYS: Final = ("title", "text", "query", "narrative", "topic")
ARTICLE_KEYS: Final = ("body", "text", "segment")
LANGUAGE_KEYS: Final = ("language", "lang")


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """One topic; `extra` holds the keys of a JSONL line that have no field here.

    `language`: a normalised tag, or empty; `article`: the text of the article that is asked about.
    """

    line: int
    topic_id: str
    text: str
    tags: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    language: str = ""
    problem_statement: str = ""
    background: str = ""
    article: str = ""


HEADERS_OF_IDS: Final = frozenset(
    {"id", "qid", "queryid", "topicid", "topic", "tid", "narrativeid", "requestid", "number", "num", "docid"}
)
HEADERS_OF_TEXTS: Final = frozenset(
    {"query", "text", "title", "topic", "narrative", "question", "querytext", "topictext", "description"}
)
WORD_ENDS: Final = re.compile(r"[\s_#.-]+")


Limit = Annotated[int, Field(ge=1, le=MAX_INT)]
"""Most characters of an answer, kept among the `extra` keys."""


class TopicLine(Line):
    """A JSONL line: exactly the first id key and the first text key that it has count."""

    id: Id | None = None
    qid: Id | None = None
    narrative_id: Id | None = None
    topic_id: Id | None = None
    request_id: Id | None = None
    docid: Id | None = None
    title: Text | None = None
    text: Text | None = None
    query: Text | None = None
    narrative: Text | None = None
    topic: Text | None = None
    body: str | None = None
    segment: str | None = None
    problem_statement: str | None = None
    background: str | None = None
    language: Language | None = None
    lang: Language | None = None
    limit: Limit | None = None
    tags: Annotated[list[Text], unless_null([])] = []


def topic_id_problem(topic_id: str) -> str | None:
    if topic_id == ALL:
        return f"an id other than {ALL}, which means every topic in files of scores"
    return id_problem(topic_id)


@of_kind("topics", "topics: id<TAB>text, or JSON lines")
def parse_topics(source: Source) -> tuple[TopicRecord, ...]:
    """All topics in file order. The first line decides the form. Raises `BadInput`; a topic twice is an error."""
    problems = Problems(source.name)
    # A list is JSON of a wrong form: as TSV its problems would say nothing.
    is_json = bool(source.lines) and source.lines[0][1].lstrip().startswith(("{", "["))
    rows = (_json_topics if is_json else _tsv_topics)(source, problems)
    once = Once(problems, "id")
    topics = tuple(row for row in rows if once.is_first(row.line, row.topic_id, f"topic {row.topic_id}"))
    problems.raise_if_any()
    return topics


def _json_topics(source: Source, problems: Problems) -> Iterator[TopicRecord]:
    for line, topic in json_rows(source, TopicLine.model_validate_json, problems):
        id_key = _first_key(topic, ID_KEYS)
        text_key = _first_key(topic, TEXT_KEYS)
        if id_key is None:
            problems.add(line, "id", "an id (`id`, `qid`, `request_id` or `narrative_id`), the field is missing")
        if text_key is None:
            problems.add(line, "text", "a text (`title`, `text`, `query` or `narrative`), the field is missing")
        wrong_id = topic_id_problem(getattr(topic, id_key)) if id_key else None
        if id_key and wrong_id:
            problems.add(line, id_key, wrong_id)
        if id_key and text_key and not wrong_id:
            yield _row(line, topic, id_key, text_key)


def _row(line: int, topic: TopicLine, id_key: str, text_key: str) -> TopicRecord:
    article_key = _first_key(topic, _article_keys(id_key, text_key)) or "body"
    language_key = _first_key(topic, LANGUAGE_KEYS) or "language"
    read = {id_key, text_key, article_key, language_key, "problem_statement", "background", "tags"}
    return TopicRecord(
        line,
        getattr(topic, id_key),
        getattr(topic, text_key),
        tuple(topic.tags),
        topic.model_dump(exclude=read, exclude_none=True),
        language=getattr(topic, language_key) or "",
        problem_statement=topic.problem_statement or "",
        background=topic.background or "",
        article=getattr(topic, article_key) or "",
    )


def _article_keys(id_key: str, text_key: str) -> Collection[str]:
    """Return the keys of an article's text: where the id is the article's, also those that documents use."""
    return [key for key in ARTICLE_KEYS if key != text_key] if id_key == "docid" else ARTICLE_KEYS[:1]


def _first_key(topic: TopicLine, keys: Collection[str]) -> str | None:
    return next((key for key in keys if getattr(topic, key) is not None), None)


def _tsv_topics(source: Source, problems: Problems) -> Iterator[TopicRecord]:
    for line, text in source.lines:
        columns = text.split("\t")
        if line == source.lines[0][0] and _is_header(columns):
            problems.add(line, "line", f"a topic, this is a header ({', '.join(columns)}): take it away")
            continue
        if len(columns) != 2:
            problems.add(line, "columns", f"2 columns, id<TAB>text, found {len(columns)}")
            continue
        topic_id, topic_text = columns[0].strip(), columns[1].strip()
        wrong_id = topic_id_problem(topic_id)
        if wrong_id:
            problems.add(line, "id", wrong_id)
        if not topic_text:
            problems.add(line, "text", "a text that is not empty")
        if topic_text and not wrong_id:
            yield TopicRecord(line, topic_id, topic_text)


def _is_header(columns: list[str]) -> bool:
    first, *others = (WORD_ENDS.sub("", column).casefold() for column in columns)
    return first in HEADERS_OF_IDS and any(other in HEADERS_OF_TEXTS for other in others)


# `int` alone would take 1_0 and the digits of other scripts as well.
INTEGER: Final = re.compile(r"-?[0-9]{1,9}")
QREL_COLUMNS: Final = (4, 6)  # six: judgment files that add confidence and run id
LOWEST_GRADE: Final = -1  # TREC's "not judged" in a pool; lower grades are refused
HIGHEST_GRADE: Final = 32_767
# A retrieval run has six columns too, with ranks where the grade would be: no scale goes so far.
HIGHEST_GRADE_OF_SIX: Final = 10


@dataclass(frozen=True, slots=True)
class QrelRecord:
    """One relevance judgment. A grade of -1 is kept: in TREC it marks a document left unjudged."""

    line: int
    topic_id: str
    docid: str
    grade: int


@of_kind("qrels", "grades: topic, any, docid, grade")
def parse_qrels(source: Source) -> tuple[QrelRecord, ...]:
    """All judgments in file order; equal repetitions are dropped, conflicting repetitions refuse the file.

    Raises `BadInput`: not 4 (or 6) columns, an id of wrong form, a grade that is not an integer of at least -1.
    """
    problems = Problems(source.name)
    once = Once(problems, "grade")
    rows: list[QrelRecord] = []
    if is_retrieval_run(text.split() for _, text in source.lines):
        problems.add(0, "file", "grades; this is a retrieval run: its fourth column has ranks, not grades")
        problems.raise_if_any()
    for line, text in source.lines:
        row = _qrel_record(line, text.split(), problems)
        if row and once.is_new(line, (row.topic_id, row.docid), row.grade, f"{row.topic_id} {row.docid}"):
            rows.append(row)
        if problems.full:
            break
    problems.raise_if_any()
    return tuple(rows)


def qrel_line(row: QrelRecord) -> str:
    return f"{row.topic_id} 0 {row.docid} {row.grade}"


def _qrel_record(line: int, columns: list[str], problems: Problems) -> QrelRecord | None:
    if len(columns) not in QREL_COLUMNS:
        problems.add(line, "columns", f"4 columns (topic, any, docid, grade), found {len(columns)}")
        return None
    topic_id, _, docid, grade = columns[:4]
    problem_of = {"topic": id_problem(topic_id), "docid": id_problem(docid), "grade": _grade_problem(columns)}
    wrong = {name: expected for name, expected in problem_of.items() if expected}
    for name, expected in wrong.items():
        problems.add(line, name, expected)
    return None if wrong else QrelRecord(line, topic_id, docid, int(grade))


def _grade_problem(columns: list[str]) -> str | None:
    grade = columns[3]
    if not INTEGER.fullmatch(grade):
        return f"an integer, found {grade[:40]!r}"
    if int(grade) < LOWEST_GRADE:
        return f"a grade of at least {LOWEST_GRADE}, found {grade}"
    if len(columns) == 6 and int(grade) > HIGHEST_GRADE_OF_SIX:
        return f"a grade of at most {HIGHEST_GRADE_OF_SIX}, found {grade} (is this a retrieval run, with ranks?)"
    if int(grade) > HIGHEST_GRADE:
        return f"a grade of at most {HIGHEST_GRADE}, found {grade}"
    return None
