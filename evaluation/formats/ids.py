"""What may be an id, a name or a text, as annotated types for the line models."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

MAX_ID: Final = 200
MAX_INT: Final = 2**31 - 1  # what a database integer holds
# A spreadsheet takes a cell that begins so for a formula; ids travel into CSV exports.
FORMULA_STARTS: Final = ("=", "+", "-", "@")
# The form of nearly every id, decided in one step; only what fails it is looked at closely.
USUAL_ID: Final = re.compile(r"[!-*,./-<>?A-~][!-~]{0,199}")
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def id_problem(value: str) -> str | None:
    """What is wrong with an id (topic, run, docid, group), or None."""
    if not value:
        return "an id, found an empty string"
    if USUAL_ID.fullmatch(value):
        return None
    if " " in value or not value.isprintable():
        return "an id without white space or control characters"
    return _cell_problem(value)


def name_problem(value: str) -> str | None:
    """What is wrong with a name of a judge or set, which may have spaces inside, or None."""
    if not value.strip():
        return "a name, found an empty string"
    if value != value.strip() or CONTROL.search(value):
        return "a name without control characters or white space around it"
    return _cell_problem(value)


def _cell_problem(value: str) -> str | None:
    if value.startswith(FORMULA_STARTS):
        return "something that does not begin with = + - @ (a spreadsheet would run it)"
    if len(value) > MAX_ID:
        return f"at most {MAX_ID} characters, found {len(value)}"
    return None


def _checked(problem: Callable[[str], str | None]) -> Callable[[str], str]:
    def check(value: str) -> str:
        found = problem(value)
        if found:
            raise PydanticCustomError("id", "{found}", {"found": found})
        return value

    return check


def _int_as_text(value: Any) -> Any:
    return str(value) if type(value) is int else value


Id = Annotated[str, AfterValidator(_checked(id_problem)), BeforeValidator(_int_as_text)]
"""An id; an integer in the file is the same as its digits."""

Name = Annotated[str, AfterValidator(_checked(name_problem))]
Text = Annotated[str, Field(pattern=r"\S")]  # checked in Rust: the largest files have 835,000 of these
Count = Annotated[int, Field(ge=0, le=MAX_INT)]
