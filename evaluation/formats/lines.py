"""JSONL in and out: one object per line, every bad line noted, nothing that a database could not store."""

import json
import math
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.formats.problems import Problems
from evaluation.formats.source import Source

T = TypeVar("T")

ESCAPED_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
CONFIG: Final = ConfigDict(extra="allow", strict=True)


class Line(BaseModel):
    """A line model: strict types, unknown keys kept."""

    model_config = CONFIG

    @property
    def extra(self) -> dict[str, Any]:
        """The keys that the model does not know."""
        return dict(self.__pydantic_extra__ or {})


def json_rows(source: Source, validate: Callable[[str], T], problems: Problems) -> Iterator[tuple[int, T]]:
    """Yield (line, validated row) for every good line; note the others in `problems`."""
    for line, text in source.lines:
        if problems.full:
            return
        try:
            row = validate(text)
        except ValidationError as error:
            problems.add_validation(line, error)
            continue
        unstorable = _unstorable(text) or ("numbers of ordinary size" if _has_infinite(row) else None)
        if unstorable:
            problems.add(line, "line", unstorable)
            continue
        yield line, row


def _unstorable(text: str) -> str | None:
    """JSON that Python reads and a database refuses. Looked for only where its letters occur."""
    if "\\u0000" in text and ESCAPED_NUL.search(text):
        return "text without NUL characters, found \\u0000"
    if ("NaN" in text or "Infinity" in text) and _has_constant(text):
        return "valid JSON: NaN and Infinity are not"
    return None


def _has_infinite(value: object) -> bool:
    """Say whether a number was too large for a float, such as 1e999: JSON has no way to write what was read."""
    if isinstance(value, str | int):
        return False
    if isinstance(value, float):
        return math.isinf(value)
    if isinstance(value, dict):
        return any(map(_has_infinite, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_infinite, value))
    return isinstance(value, Line) and (_has_infinite(value.__dict__) or _has_infinite(value.__pydantic_extra__))


def _has_constant(text: str) -> bool:
    found: list[str] = []
    json.loads(text, parse_constant=found.append)
    return bool(found)


class Once:
    """Notes what a file says twice: the first line of every key, and whether the second agrees with it."""

    def __init__(self, problems: Problems, field: str) -> None:
        self._problems = problems
        self._field = field
        self._seen: dict[Hashable, tuple[int, object]] = {}

    def is_new(self, line: int, key: Hashable, value: object, shown: str) -> bool:
        """Whether to keep the row. A second equal one is dropped; a second different one is a problem."""
        first_line, first = self._seen.setdefault(key, (line, value))
        if first_line == line and first is value:
            return True
        if first != value:
            self._problems.add(
                line, self._field, f"one row for {shown}, a conflicting duplicate of line {first_line}"
            )
        return False

    def is_first(self, line: int, key: Hashable, shown: str) -> bool:
        """Whether to keep the row, where every second one is a problem."""
        first_line, _ = self._seen.setdefault(key, (line, None))
        if first_line == line:
            return True
        self._problems.add(line, self._field, f"{shown} once, it is on line {first_line} too (duplicate)")
        return False


def json_line(known: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    """One line of JSONL without its newline: known keys first and never overridden by extra ones."""
    return json.dumps(with_extra(known, extra), ensure_ascii=False, allow_nan=False)


def with_extra(known: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """`known` without its None values, then the extra keys that it does not have."""
    row = {key: value for key, value in known.items() if value is not None}
    return row | {key: value for key, value in extra.items() if key not in known}
