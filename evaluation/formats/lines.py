"""JSONL in and out: one object per line, every bad line noted, nothing that a database could not store."""

import json
import math
import re
import tomllib
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from evaluation.errors import BadInput, InputProblem
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.terms import MOST_WEIGHT, PROVENANCE_KEY
from web.text import trimmed

T = TypeVar("T")

ESCAPED_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
# No text of JSON goes beyond a line.
TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\],]')
DEPTH: Final = {"{": 1, "[": 1, "}": -1, "]": -1}
# Strict: a number read as a text, or the other way, would leave again as something else.
CONFIG: Final = ConfigDict(extra="allow", strict=True)


class Line(BaseModel):
    """A line model: strict types, unknown keys kept."""

    model_config = CONFIG

    @property
    def extra(self) -> dict[str, Any]:
        return dict(self.__pydantic_extra__ or {})


def json_rows(source: Source, validate: Callable[[str], T], problems: Problems) -> Iterator[tuple[int, T]]:
    """Yield (line, validated row) for every good line; note the others in `problems`."""
    if expected := over_lines(source):
        problems.add(source.lines[0][0], "line", expected)
        return iter(())
    return json_rows_of(source.lines, validate, problems)


def over_lines(source: Source) -> str:
    """Return what was expected of a file that is a list, or whose first object goes on over further lines; else ''."""
    texts = [text.strip() for _, text in source.lines[:2]]
    first = texts[0] if texts else ""
    if len(texts) == 1 and first.startswith("[") and first[1:].lstrip().startswith("{"):
        return "one JSON object a line, this is a list (jq -c '.[]' FILE writes its lines)"
    is_open = sum(DEPTH.get(token, 0) for token in TOKEN.findall(first)) > 0
    # Before a whole object a line that ends too soon is one that was cut.
    if len(texts) < 2 or not is_open or (not first.endswith(("{", "[")) and _is_object(texts[1])):
        return ""
    if first.startswith("["):
        return "one JSON object a line, this is a list over several lines (jq -c '.[]' FILE writes its lines)"
    if first.startswith("{"):
        return "one JSON object a line, this one goes over several lines (jq -c . FILE writes each on one)"
    return ""


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def json_rows_of(
    lines: Iterable[tuple[int, str]], validate: Callable[[str], T], problems: Problems
) -> Iterator[tuple[int, T]]:
    for line, text in lines:
        if problems.full:
            return
        try:
            row = validate(text)
        except ValidationError as error:
            problems.add_validation(line, error)
            continue
        for key in repeated_keys(text):
            problems.add(line, key, f"`{key}` once, it is there twice")
        if expected := unstorable(text, row):
            problems.add(line, "line", expected)
            continue
        yield line, row


def first_object(source: Source) -> Mapping[str, Any]:
    """Return the first object of a file, by which its form is told; empty where no line is one."""
    for _, text in source.lines:
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            return entry
    return {}


def repeated_keys(text: str | bytes) -> list[str]:
    """Return the keys that some object of a JSON text has twice: of those the last would count, and nobody be told."""
    keys: dict[str, None] = {}

    def note(pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) != len(dict(pairs)):
            names = [name for name, _ in pairs]
            keys.update((name, None) for name in names if names.count(name) > 1)

    # Of numbers nothing is asked, and they may be of any size.
    json.loads(text, object_pairs_hook=note, parse_int=len, parse_float=len)
    return list(keys)


def unstorable(text: str, row: object) -> str | None:
    """Return what was expected of JSON that Python reads, as `row`, and a database refuses."""
    return _unstorable(text) or ("numbers of ordinary size" if _has_infinite(row) else None)


def _unstorable(text: str) -> str | None:
    # Looked for only where its letters occur.
    if "\\u0000" in text and ESCAPED_NUL.search(text):
        return "text without NUL characters, found \\u0000"
    if "NaN" in text or "Infinity" in text:
        constants: list[str] = []
        json.loads(text, parse_constant=constants.append)
        if constants:
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


def unless_null(default: object) -> BeforeValidator:
    """Read null as if the field were not there: programs write tables so, of which a row has no value in a column."""
    return BeforeValidator(lambda value: default if value is None else value)


MOST_SAMPLES: Final = 32_767  # what the column holds
Sample = Annotated[int, Field(ge=1, le=MOST_SAMPLES), unless_null(1)]
"""Which of a run's answers to a topic is meant, from 1."""


def sample_field(sample: int) -> dict[str, int]:
    """Return the field of a line that names a sample: of a run with one answer to a topic nothing is said."""
    return {"sample": sample} if sample > 1 else {}


def sample_words(sample: int) -> str:
    return f", sample {sample}" if sample > 1 else ""


class Once:
    """First line of every key of a file, to find the keys that come twice."""

    def __init__(self, problems: Problems, field: str) -> None:
        self._problems = problems
        self._field = field
        self._seen: dict[Hashable, tuple[int, object]] = {}

    def is_new(self, line: int, key: Hashable, value: object, name: str, field: str = "") -> bool:
        """Return False for a repetition. One with another value is a problem; `field`: where it stands in its line."""
        if key not in self._seen:
            self._seen[key] = line, value
            return True
        first_line, first = self._seen[key]
        if first != value:
            where = (
                "it is here twice, and differs"
                if first_line == line
                else f"a conflicting duplicate of line {first_line}"
            )
            self._problems.add(line, field or self._field, f"one row for {name}, {where}")
        return False

    def is_first(self, line: int, key: Hashable, name: str) -> bool:
        """Return False for a repetition, which is a problem whatever its value."""
        first_line, _ = self._seen.setdefault(key, (line, None))
        if first_line == line:
            return True
        self._problems.add(line, self._field, f"{name} once, it is on line {first_line} too (duplicate)")
        return False


Ours = TypeVar("Ours", bound=BaseModel)


def own_provenance(extra: Mapping[str, Any], nothing: Ours, line: int, problems: Problems) -> Ours:
    """Read the provenance that an export of ours wrote; `nothing`, an empty one, where there is none.

    Anything else under our key is another program's and left alone.
    """
    payload, shape = extra.get(PROVENANCE_KEY), type(nothing)
    if not isinstance(payload, dict) or not payload.keys() & shape.model_fields.keys():
        return nothing
    try:
        return shape.model_validate(payload)
    except ValidationError as error:
        problems.add_validation(line, error)
        return nothing


def one_of(words: Collection[str]) -> AfterValidator:

    def checked(word: str) -> str:
        if word not in words:
            *first, last = words
            expected = f"{', '.join(first)} or {last}"
            raise PydanticCustomError(
                "word", "{expected}, found {word}", {"expected": expected, "word": repr(word[:40])}
            )
        return word

    return AfterValidator(checked)


def label_word(label: AssignmentLabel | SupportLabel, raw: str) -> str:
    """Return a label's word in files; of a failure its raw text, if that is not a label's name."""
    if label.name != "FAILED":
        return label.name.lower()
    # Read back, a label's own name would be that label and no failure any more.
    return "failed" if raw in [other.name.lower() for other in type(label)] else raw


def by_heading(
    rows: Iterable[tuple[int, list[str]]], header: list[str], problems: Problems
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, cells by heading) for every row of a table as wide as its header; note the others in `problems`."""
    for line, cells in rows:
        if len(cells) == len(header):
            yield line, dict(zip(header, cells, strict=True))
        else:
            problems.add(line, "columns", f"{len(header)} columns as in the header, found {len(cells)}")


def json_line(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    # Python would write NaN, which is no JSON and stops readers in other languages.
    return json.dumps(with_extra(fields, extra), ensure_ascii=False, allow_nan=False)


def with_extra(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return `fields` without None values, then the extra keys that it does not have."""
    row = {key: value for key, value in fields.items() if value is not None}
    return row | {key: value for key, value in extra.items() if key not in fields}


MAX_ID: Final = 200
MAX_INT: Final = 2**31 - 1  # what a database integer holds
# A spreadsheet takes a cell that begins so for a formula; ids travel into CSV exports.
FORMULA_STARTS: Final = ("=", "+", "-", "@")
# The form of nearly every id, decided in one step; only what fails it is looked at closely.
USUAL_ID: Final = re.compile(r"[!-*,./-<>?A-~][!-~]{0,199}")
# Halves of characters too, which an argument that is not UTF-8 has.
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def id_problem(value: str) -> str | None:
    if not value:
        return "an id, found an empty string"
    if USUAL_ID.fullmatch(value):
        return None
    if " " in value or not value.isprintable() or value != trimmed(value):
        return "an id without white space, control or invisible characters"
    return _cell_problem(value)


def name_problem(value: str) -> str | None:
    """Return the problem of a name of a judge or set, which may have spaces inside, or None."""
    if not trimmed(value):
        return "a name, found an empty string"
    if value != trimmed(value) or CONTROL.search(value):
        return "a name without control characters, white space around it, or invisible characters there"
    return _cell_problem(value)


def _cell_problem(value: str) -> str | None:
    if value.startswith(FORMULA_STARTS):
        return "something that does not begin with = + - @ (a spreadsheet would run it)"
    if len(value) > MAX_ID:
        return f"at most {MAX_ID} characters, found {len(value)}"
    return None


def _checked(problem: Callable[[str], str | None]) -> Callable[[str], str]:
    def check(value: str) -> str:
        expected = problem(value)
        if expected:
            raise PydanticCustomError("id", "{found}", {"found": expected})
        return value

    return check


def int_as_text(value: Any) -> Any:
    # By type, because true and false are integers to `isinstance`.
    return str(value) if type(value) is int else value


Id = Annotated[str, AfterValidator(_checked(id_problem)), BeforeValidator(int_as_text)]
"""An id; an integer in the file is the same as its digits."""

Name = Annotated[str, AfterValidator(_checked(name_problem))]
OptionalName = Annotated[str, AfterValidator(_checked(lambda name: name_problem(name) if name else None))]
# Checked in Rust, whose pattern says what `UNSEEN` of web/text.py says.
Text = Annotated[str, Field(pattern=r"[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u{2800}\u{fff0}-\u{fffb}]")]
Wording = Annotated[Text, AfterValidator(trimmed)]
"""A nugget's text: two that look the same are the same."""
Count = Annotated[int, Field(ge=0, le=MAX_INT)]


def _weight(value: float) -> float:
    if not -MOST_WEIGHT <= value <= MOST_WEIGHT or round(value, 3) != value:
        expected = f"a number from -{MOST_WEIGHT} to {MOST_WEIGHT} with at most 3 decimals"
        raise PydanticCustomError("weight", "{expected}, found {weight}", {"expected": expected, "weight": value})
    return value


Weight = Annotated[float, AfterValidator(_weight)]


Shape = TypeVar("Shape", bound=BaseModel)


def read_toml(source: Source, shape: type[Shape]) -> Shape:
    """Read a source as TOML of this shape. Raises `BadInput` naming the file, the line and the field."""
    try:
        return shape.model_validate(tomllib.loads(whole_text(source)))
    except RecursionError as error:
        raise BadInput([InputProblem(source.name, 1, "file", "values that are not nested so deep")]) from error
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        line = int(place[1]) if place else source.lines[-1][0]
        raise BadInput([InputProblem(source.name, line, "file", f"valid TOML: {error}")]) from error
    except ValueError as error:
        if not isinstance(error, ValidationError):  # a number of thousands of digits
            raise BadInput([InputProblem(source.name, 1, "file", "numbers of ordinary size")]) from error
        problems: dict[str, InputProblem] = {}
        for detail in error.errors():
            # Where one of several types fits, each says that it does not, below a name of its own in brackets.
            path = [str(part) for part in detail["loc"] if "[" not in str(part)]
            field = ".".join(path)
            problems.setdefault(field, InputProblem(source.name, line_of(source, path), field, detail["msg"]))
        raise BadInput([*problems.values()]) from error


def whole_text(source: Source) -> str:
    """Return the file with the blank lines that a source leaves out, so that TOML's line numbers are the file's."""
    texts = dict(source.lines)
    return "\n".join(texts.get(number, "") for number in range(1, source.lines[-1][0] + 1))


def line_of(source: Source, path: Sequence[str]) -> int:
    """Return the first line that names the innermost key of a path, as nearly as can be told from the text."""
    return next((line for name in reversed(path) for line, text in source.lines if name in text), 1)
