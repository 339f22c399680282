"""TOML files in the shape of a pydantic model; what is wrong is named by file, line and field."""

import re
import tomllib
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from evaluation.errors import BadInput, Problem
from evaluation.formats.source import Source

Shape = TypeVar("Shape", bound=BaseModel)


def read_toml(source: Source, shape: type[Shape]) -> Shape:
    """Read a source as TOML of this shape. Raises `BadInput` naming the file, the line and the field."""
    try:
        return shape.model_validate(tomllib.loads(_whole_text(source)))
    except RecursionError as error:
        raise BadInput([Problem(source.name, 1, "file", "values that are not nested so deep")]) from error
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        line = int(place[1]) if place else source.lines[-1][0]
        raise BadInput([Problem(source.name, line, "file", f"valid TOML: {error}")]) from error
    except ValueError as error:
        if not isinstance(error, ValidationError):  # a number of thousands of digits
            raise BadInput([Problem(source.name, 1, "file", "numbers of ordinary size")]) from error
        paths = [[str(part) for part in one["loc"]] for one in error.errors()]
        problems = [
            Problem(source.name, _line_of(source, path), ".".join(path), one["msg"])
            for path, one in zip(paths, error.errors(), strict=True)
        ]
        raise BadInput(problems) from error


def _whole_text(source: Source) -> str:
    """Return the file with the blank lines that a source leaves out, so that TOML's line numbers are the file's."""
    texts = dict(source.lines)
    return "\n".join(texts.get(number, "") for number in range(1, source.lines[-1][0] + 1))


def _line_of(source: Source, path: list[str]) -> int:
    """Return the first line that names the innermost key of a path, as nearly as can be told from the text."""
    names = [name for name in reversed(path) if name != "[key]"]
    return next((line for name in names for line, text in source.lines if name in text), 1)
