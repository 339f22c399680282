"""Traces: a question, the answer that a system gave, and the contexts that it retrieved for it.

They come as JSON lines, a JSON list, or a CSV with a header. A form says under which names the parts stand; a file
without a form of its own needs a map.
"""

import csv
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Annotated, Any, Final, NamedTuple
from unicodedata import normalize

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evaluation.errors import Refused
from evaluation.formats.lines import DEPTH, MOST_SAMPLES, TOKEN, id_problem, json_rows, json_rows_of
from evaluation.formats.problems import JSON_NAMES, Problems
from evaluation.formats.source import MAX_TEXT_LINE_BYTES, Source
from evaluation.formats.topics import topic_id_problem
from web.text import cut, trimmed

MOST_BYTES_OF_CONTEXTS: Final = 20 * 1024**2
MAY_BE_SKIPPED: Final = "(skip such rows)"
ROW: Final = TypeAdapter(dict[str, Any])
ANYTHING: Final = TypeAdapter(Any)
MOST_CHARACTERS: Final = 4 * MOST_BYTES_OF_CONTEXTS
NUMBER: Final = re.compile(r"[0-9]{1,5}")
INDEX: Final = re.compile(r"-?[0-9]{1,6}")
ID_KEYS: Final = ("id", "docid")
TEXT_KEYS: Final = ("text", "content", "page_content")

# The module's own limit of a cell is 128 KB: less than a list of passages takes.
csv.field_size_limit(MAX_TEXT_LINE_BYTES)


class TraceMap(BaseModel):
    """Names of a trace's parts: a column or key each, or a path such as `input.messages.-1.content`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    question: str = ""
    answer: str = ""
    contexts: str = ""
    contexts_split: str = ""
    context_ids: str = ""
    topic_id: str = ""
    trace_id: str = ""
    sample: str = ""
    marks_from: Annotated[int, Field(ge=0, le=1000)] = 1


PARTS: Final = ("question", "answer", "contexts", "context_ids", "topic_id", "trace_id", "sample")
CSV: Final = "csv"
FORMS: Final[Mapping[str, TraceMap]] = {
    "ragas": TraceMap(
        question="user_input",
        answer="response",
        contexts="retrieved_contexts",
        context_ids="retrieved_context_ids",
    ),
    CSV: TraceMap(),
}
REFERENCE: Final = "reference"
"""Key of ragas for the answer that was expected: kept beside the answer."""
SAMPLES: Final = "multi_responses"
"""Key of ragas for several answers, which stands in place of the answer."""


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """How a file of traces is read. `run` names the run of all of them, else `run_field` where each says it.

    `number_samples`: answers of a run to one question are numbered in their order. `with_candidates`: sentences stand
    beside what was retrieved, whatever they cite. `keep`: names or paths of what is kept beside the answer; anything
    else that is not mapped is not stored.
    """

    form: str = ""
    names: TraceMap = field(default_factory=TraceMap)
    run: str = ""
    run_field: str = ""
    skip_empty: bool = False
    number_samples: bool = False
    with_candidates: bool = False
    keep: tuple[str, ...] = ()


class ContextRecord(NamedTuple):
    """A context that was retrieved; `given_id` is empty where the trace has none that may be a docid."""

    given_id: str
    text: str


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """`extra`: what is kept of a trace beside question, answer and contexts."""

    line: int
    run_id: str
    topic_id: str
    question: str
    answer: str
    contexts: tuple[ContextRecord, ...]
    extra: dict[str, Any] = field(default_factory=dict)
    sample: int = 1


def topic_id_of(question: str) -> str:
    words = " ".join(normalize("NFC", question).split())
    return f"q-{hashlib.sha256(words.encode()).hexdigest()[:12]}"


def text_hash(text: str) -> str:
    """Return the hash of a context's text; white space around it says nothing."""
    return hashlib.sha256(normalize("NFC", text).strip().encode()).hexdigest()


def trace_records(source: Source, options: TraceOptions, problems: Problems) -> Iterator[TraceRecord]:
    """Yield traces while they are read; what is wrong with others goes to `problems`. Raises `Refused`."""
    reader = None
    for line, row in _rows(source, problems):
        reader = reader or _Reader(row, options, problems)
        yield from reader.records(line, row)


def _rows(source: Source, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    first = source.lines[0][1].lstrip()
    if first.startswith("{"):
        yield from json_rows(source, ROW.validate_json, problems)
    elif first.startswith("["):
        yield from json_rows_of(_items(source.lines, problems), ROW.validate_json, problems)
    else:
        yield from _csv_rows(source, problems)


def _items(lines: Iterable[tuple[int, str]], problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield the items of a JSON list, each with the line on which it begins; only one of them is held at a time."""
    item: list[str] = []
    depth = size = began = 0
    rows = iter(lines)
    for number, text in rows:
        start = 0
        for token in TOKEN.finditer(text):
            step = DEPTH.get(token[0], 0)
            if (depth, step) == (0, 1):
                start = token.end()
            elif depth + step == 0 or (depth == 1 and token[0] == ","):
                item.append(text[start : token.start()])
                if whole := "\n".join(item).strip():
                    yield began or number, whole
                item, size, began, start = [], 0, 0, token.end()
            depth += step
            if depth < 1:
                _note_more((number, text[token.end() :]), rows, problems)
                return
            began = began or (number if depth > 1 else 0)
        item.append(text[start:])
        size += len(text) - start
        if size > MOST_CHARACTERS:
            problems.add(began, "line", f"an object of at most {MOST_CHARACTERS:,} characters")
            return
    problems.add(began or number, "line", "valid JSON: a list of objects, one for each trace")


def _note_more(end: tuple[int, str], lines: Iterator[tuple[int, str]], problems: Problems) -> None:
    """Note what stands behind a list; `end`: its last line, and the text there behind it."""
    number, rest = end
    if line := number if rest.strip() else next(lines, (0, ""))[0]:
        problems.add(line, "line", f"nothing behind the list, which ends on line {number}")


def _csv_rows(source: Source, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    first = source.lines[0][1]
    reader = csv.reader(_lines(source), strict=True, delimiter=max(",;\t", key=first.count))
    header: list[str] = []
    line = 1
    try:
        for record in reader:
            if not header and any(record):
                header = [name.strip() for name in record]
                if len(set(header)) < len(header):
                    problems.add(line, "header", "every column once")
                    return
            elif any(record) and len(record) != len(header):
                problems.add(line, "columns", f"{len(header)} columns as in the header, found {len(record)}")
            elif any(record):
                yield line, dict(zip(header, (cell or None for cell in record), strict=True))
            line = reader.line_num + 1  # a quoted cell may go over several lines
    except csv.Error as error:
        problems.add(line, "line", f"valid CSV: {error}")


def _lines(source: Source) -> Iterator[str]:
    """Yield lines with the blank ones that a source leaves out: in a cell they part paragraphs."""
    number = 1
    for line, text in source.lines:
        yield from ["\n"] * (line - number)
        yield f"{text}\n"
        number = line + 1


class _Reader:
    """Reads the rows of one file by the names that its form, or its map, gives to their parts."""

    def __init__(self, first_row: Mapping[str, Any], options: TraceOptions, problems: Problems) -> None:
        form = options.form or _form_of(first_row, options.names)
        own = FORMS[form]
        self._names = own.model_copy(update=options.names.model_dump(exclude_defaults=True))
        self._options = options
        self._problems = problems
        keys = ", ".join(first_row)
        if own.question and own.question == self._names.question not in first_row:
            raise Refused("no_such_form", f"form: none fits; keys seen: {keys}", field="form")
        for part in ("question", "answer"):
            if not getattr(self._names, part):
                raise Refused("no_map", f"{part}: the name of a column (columns: {keys})", field="map")
        for part in PARTS:
            name = getattr(options.names, part)
            if name and not _is_there(name, first_row):
                text = f"{part}: no column '{cut(name, 80)}' (columns: {keys})"
                raise Refused("no_such_column", text, field="map")
        columns = [("run_field", options.run_field), *(("keep", path) for path in options.keep)]
        for option, name in columns:
            if name and not _is_there(name, first_row):
                text = f"no column '{cut(name, 80)}' (columns: {keys})"
                raise Refused("no_such_column", text, field=option)

    def records(self, line: int, row: Mapping[str, Any]) -> Sequence[TraceRecord]:
        """Return a row's trace, one for each sample where it has several answers; none where there is none to load."""
        noted = len(self._problems)
        answers = self._answers(row)
        if answers == [None] and self._options.skip_empty:
            return ()
        for answer in answers:
            if not isinstance(answer, str):
                hint = f" {MAY_BE_SKIPPED}" if answer is None else ""
                self._add(line, self._names.answer, f"a text, found {_what(answer)}{hint}")
        first = self._sample(line, row) if self._names.sample else 1
        question, conversation = self._question(line, row)
        contexts = tuple(self._contexts(line, row))
        run_id = self._options.run or self._id(line, self._options.run_field, row)
        topic_id = (
            self._id(line, self._names.topic_id, row, topic_id_problem)
            if self._names.topic_id
            else topic_id_of(question)
        )
        kept = {
            "id": at_path(row, self._names.trace_id) if self._names.trace_id else None,
            "conversation": conversation or None,
            "kept": {path: at_path(row, path) for path in self._options.keep} or None,
            REFERENCE: row.get(REFERENCE) if self._names.question == FORMS["ragas"].question else None,
        }
        if len(self._problems) > noted:
            return ()
        extra = {name: value for name, value in kept.items() if value is not None}
        return [
            TraceRecord(line, run_id, topic_id, question, str(answer), contexts, extra, number)
            for number, answer in enumerate(answers, first)
        ]

    def _answers(self, row: Mapping[str, Any]) -> list[Any]:
        """Return the answers of a row, of which it has one unless they are a list."""
        answer = at_path(row, self._names.answer)
        if answer in (None, "") and self._names.answer == FORMS["ragas"].answer:
            samples = row.get(SAMPLES)
            answer = (as_json(samples) if isinstance(samples, str) else samples) or answer
        return answer if isinstance(answer, list) and answer else [answer]

    def _sample(self, line: int, row: Mapping[str, Any]) -> int:
        """Return the number of a row's sample; a cell of a sheet holds a text."""
        value = at_path(row, self._names.sample)
        text = str(value) if type(value) in {str, int} else ""
        if NUMBER.fullmatch(text) and 1 <= int(text) <= MOST_SAMPLES:
            return int(text)
        self._add(line, self._names.sample, f"a number from 1 to {MOST_SAMPLES:,}, found {_what(value)}")
        return 1

    def _add(self, line: int, field_name: str, expected: str) -> None:
        self._problems.add(line, field_name, expected)

    def _id(
        self,
        line: int,
        name: str,
        row: Mapping[str, Any],
        problem_of: Callable[[str], str | None] = id_problem,
    ) -> str:
        value = at_path(row, name)
        text = str(value) if type(value) in {str, int} else ""
        problem = problem_of(text)
        if problem:
            self._add(line, name, problem if value is not None else f"an id, found {_what(value)}")
        return text

    def _question(self, line: int, row: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """Return the question and what was said before it: the last message of a person is the question."""
        value = at_path(row, self._names.question)
        messages = as_json(value) if isinstance(value, str) and value.lstrip().startswith("[{") else value
        conversation: list[Any] = []
        if isinstance(messages, list):
            asked = [number for number, message in enumerate(messages) if _is_a_persons(message)]
            value = messages[asked[-1]]["content"] if asked else None
            conversation = messages[: asked[-1]] if asked else []
        if not isinstance(value, str) or not trimmed(value):
            content = "one without any" if isinstance(value, str) else _what(value)
            self._add(line, self._names.question, f"a text, found {content}")
            return "", []
        return trimmed(value), conversation

    def _contexts(self, line: int, row: Mapping[str, Any]) -> Iterator[ContextRecord]:
        name = self._names.contexts
        values = self._listed_contexts(line, row) if name else []
        if values is None:
            return
        ids = self._ids(line, row, len(values))
        size = 0
        for number, value in enumerate(values):
            own_id, text = _context(value)
            own_id = ids[number] if ids else own_id
            docid = str(own_id) if type(own_id) in {str, int} else ""
            if not isinstance(text, str) or not trimmed(text):
                content = "one without any" if isinstance(text, str) else _what(text)
                self._add(line, f"{name}.{number}", f"a text, found {content}")
                continue
            size += len(text.encode())
            yield ContextRecord("" if id_problem(docid) else docid, text)
        if size > MOST_BYTES_OF_CONTEXTS:
            self._add(line, name, f"at most 20 MB in the contexts of an answer, found {size / 1024**2:.0f} MB")

    def _ids(self, line: int, row: Mapping[str, Any], number: int) -> list[Any]:
        """Return an id for each of a number of contexts; none where the row has none."""
        name = self._names.context_ids
        value = at_path(row, name) if name else None
        ids = as_json(value) if isinstance(value, str) else value
        if value is not None and not isinstance(ids, list):
            self._add(line, name, f"a JSON list of ids, found {_what(value)}")
        elif ids and len(ids) != number:
            self._add(line, name, f"as many ids as contexts, {number}, found {len(ids)}")
        else:
            return ids or []
        return []

    def _listed_contexts(self, line: int, row: Mapping[str, Any]) -> Sequence[Any] | None:
        """Return the contexts of a row; None where they are no list, which is noted."""
        name, divider = self._names.contexts, self._names.contexts_split
        value = at_path(row, name)
        if value is None:
            columns = [row[f"{name}_{number}"] for number in _numbers(name, row)]
            while columns and columns[-1] is None:
                columns.pop()
            return columns
        if isinstance(value, str) and divider:
            return [part for part in value.split(divider) if trimmed(part)]
        if isinstance(value, str) and not value.lstrip().startswith("["):
            return [value]
        values = as_json(value) if isinstance(value, str) else value
        if isinstance(values, list):
            return values
        self._add(line, name, f"a JSON list of texts, found {_what(value)}")
        return None


def _form_of(row: Mapping[str, Any], names: TraceMap) -> str:
    """Return the form of a file by its keys; a map says that there is none. Raises `Refused` where nothing fits."""
    if names.question:
        return CSV
    for form, own in FORMS.items():
        if own.question in row and (own.answer in row or SAMPLES in row):
            return form
    raise Refused("no_such_form", f"form: none fits; keys seen: {', '.join(row)}", field="form")


def _is_there(name: str, row: Mapping[str, Any]) -> bool:
    return name in row or name.partition(".")[0] in row or f"{name}_1" in row


def _numbers(name: str, row: Mapping[str, Any]) -> Iterator[int]:
    return takewhile(lambda number: f"{name}_{number}" in row, count(1))


def _is_a_persons(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        return False
    return message.get("type") == "human" or message.get("role") in {"user", "human"}


def _context(value: Any) -> tuple[Any, Any]:
    """Return id and text of a context: a text alone, or an object that has both."""
    if not isinstance(value, dict):
        return None, value
    own_id, text = (next((value[key] for key in keys if key in value), None) for keys in (ID_KEYS, TEXT_KEYS))
    return own_id, text


def at_path(row: Any, path: str) -> Any:
    """Return what a row has under a name, or under a path of names and places; a cell may hold JSON."""
    if isinstance(row, Mapping) and path in row:
        return row[path]
    value = row
    for step in path.split("."):
        value = as_json(value) if isinstance(value, str) else value
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and INDEX.fullmatch(step) and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def as_json(text: str) -> Any:
    try:
        return ANYTHING.validate_json(text)
    except ValidationError:
        return None


def _what(value: Any) -> str:
    if isinstance(value, str):
        return repr(cut(value, 40))
    return JSON_NAMES.get(type(value), "something else")
