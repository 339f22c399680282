"""Topics: `id<TAB>text`, or JSONL with `id`/`qid`/`narrative_id` and `title`/`text`/`query`/`narrative`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from evaluation.formats.ids import Id, Text, id_problem
from evaluation.formats.lines import Line, Once, json_line, json_rows
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source

ID_KEYS: Final = ("id", "qid", "narrative_id", "topic_id")
TEXT_KEYS: Final = ("title", "text", "query", "narrative", "topic")


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One topic; `extra` holds the keys of a JSONL line that have no field here."""

    line: int
    topic_id: str
    text: str
    tags: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


class TopicLine(Line):
    """A JSONL line: exactly the first id key and the first text key that it has count."""

    id: Id | None = None
    qid: Id | None = None
    narrative_id: Id | None = None
    topic_id: Id | None = None
    title: Text | None = None
    text: Text | None = None
    query: Text | None = None
    narrative: Text | None = None
    topic: Text | None = None
    tags: list[Text] = []


def parse_topics(source: Source) -> tuple[TopicRow, ...]:
    """All topics in file order. The first line tells the form. Raises `BadInput`; a topic twice is an error."""
    problems = Problems(source.name)
    is_json = bool(source.lines) and source.lines[0][1].lstrip().startswith(("{", "["))
    rows = (_json_topics if is_json else _tsv_topics)(source, problems)
    once = Once(problems, "id")
    topics = tuple(row for row in rows if once.is_first(row.line, row.topic_id, f"topic {row.topic_id}"))
    problems.raise_if_any()
    return topics


def topic_line(row: TopicRow) -> str:
    """The topic as JSONL `{"id", "title", "tags"?}`, which `parse_topics` reads back."""
    tags = list(row.tags) or None
    return json_line({"id": row.topic_id, "title": row.text, "tags": tags}, row.extra)


def _json_topics(source: Source, problems: Problems) -> Iterator[TopicRow]:
    for line, topic in json_rows(source, TopicLine.model_validate_json, problems):
        id_key = _first_key(topic, ID_KEYS)
        text_key = _first_key(topic, TEXT_KEYS)
        if id_key is None:
            problems.add(line, "id", "an id (`id`, `qid` or `narrative_id`), the field is missing")
        if text_key is None:
            problems.add(line, "text", "a text (`title`, `text`, `query` or `narrative`), the field is missing")
        if id_key and text_key:
            known = topic.model_dump(exclude={id_key, text_key, "tags"}, exclude_none=True)
            yield TopicRow(line, getattr(topic, id_key), getattr(topic, text_key), tuple(topic.tags), known)


def _first_key(topic: TopicLine, keys: tuple[str, ...]) -> str | None:
    return next((key for key in keys if getattr(topic, key) is not None), None)


def _tsv_topics(source: Source, problems: Problems) -> Iterator[TopicRow]:
    for line, text in source.lines:
        columns = text.split("\t")
        if len(columns) != 2:
            problems.add(line, "columns", f"2 columns, id<TAB>text, found {len(columns)}")
            continue
        topic_id, topic_text = columns[0].strip(), columns[1].strip()
        wrong_id = id_problem(topic_id)
        if wrong_id:
            problems.add(line, "id", wrong_id)
        if not topic_text:
            problems.add(line, "text", "a text that is not empty")
        if topic_text and not wrong_id:
            yield TopicRow(line, topic_id, topic_text)
