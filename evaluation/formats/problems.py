"""Collect everything wrong with one file, in words for people, before refusing it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from evaluation.errors import BadInput, InputProblem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_PROBLEMS: Final = 1000  # a file of the wrong kind has a problem in each of a million lines

JSON_NAMES: Final[Mapping[type, str]] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
EMPTY_TEXT: Final = "a text that is not empty"
TRAILING: Final = "trailing characters"
WORDING: Final[Mapping[str, str]] = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "int_parsing_size": "an integer of ordinary size",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dataclass_type": "an object",
}


class Problems:
    """The problems of one file. Adding stops quietly at `MAX_PROBLEMS`; `full` says so."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: list[InputProblem] = []

    def __len__(self) -> int:
        return len(self._found)

    @property
    def full(self) -> bool:
        return len(self._found) >= MAX_PROBLEMS

    def add(self, line: int, field: str, expected: str) -> None:
        if not self.full:
            self._found.append(InputProblem(self.file, line, field, expected))

    def add_validation(self, line: int, error: ValidationError) -> None:
        """Note what pydantic found, with dotted paths (`answer.3.text`) and plain words."""
        for detail in error.errors(include_url=False):
            self.add(line, field_path(detail["loc"]), wording(detail))

    def raise_if_any(self) -> None:
        if self._found:
            raise BadInput(sorted(self._found, key=lambda problem: problem.line))


def field_path(loc: tuple[int | str, ...]) -> str:
    """`("answer", 3, "text")` as `answer.3.text`; the empty path is the whole line, and a key is where its value is."""
    return ".".join(str(part) for part in loc if part != "[key]") or "line"


def wording(detail: "ErrorDetails") -> str:
    """One pydantic error as "what was expected (what was found)"."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return "a value, the field is missing"
    if kind == "json_invalid":
        return _json_wording(str(context["error"]))
    if kind == "string_pattern_mismatch":
        return EMPTY_TEXT
    if kind in {"greater_than_equal", "less_than_equal"}:
        bound = "at least" if kind == "greater_than_equal" else "at most"
        return f"a number of {bound} {context.get('ge', context.get('le'))}"
    expected = WORDING.get(kind)
    if expected is None:
        return detail["msg"]
    return f"{expected}, found {JSON_NAMES.get(type(detail['input']), 'something else')}"


def _json_wording(error: str) -> str:
    if error.startswith("recursion limit"):
        return "valid JSON: nested too deep"
    reason = error.replace(" at line 1 column", " at column")
    if reason.startswith(TRAILING):
        return f"one JSON object, found more{reason.removeprefix(TRAILING)}"
    return f"valid JSON: {reason}"
