"""Objects of rows.py from what was read as JSON."""

from __future__ import annotations

import keyword
import types
from collections.abc import Callable
from dataclasses import MISSING, fields
from datetime import date, datetime
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from assay_client.errors import ServerError

Row = TypeVar("Row")
Read = Callable[[Any], Any]


def read(row: type[Row], values: dict[str, Any]) -> Row:
    """Return a row of a JSON object. Fields that the row does not know are of a later server."""
    kind: Any = row  # mypy takes no class for hashable
    record: Row = _reader_of(kind)(values)
    return record


@cache
def _reader_of(row: Any) -> Read:
    hints = get_type_hints(row)
    plain = [(field.name, _key(field.name), _read_as(hints[field.name])) for field in fields(row)]
    needed = {_key(field.name) for field in fields(row) if field.default is MISSING}

    def read_row(values: dict[str, Any]) -> Any:
        if missing := needed - values.keys():
            raise ServerError(f"The answer has no {', '.join(sorted(missing))}: server and client do not fit.")
        return row(
            **{
                name: as_read(value) if as_read and value is not None else value
                for name, key, as_read in plain
                if (value := values.get(key, MISSING)) is not MISSING
            }
        )

    return read_row


def _key(name: str) -> str:
    return name.rstrip("_") if keyword.iskeyword(name.rstrip("_")) else name


def _read_as(hint: Any) -> Read | None:
    """Return what makes a value of its JSON; None where it is its JSON."""
    if hint in MOMENTS:
        return MOMENTS[hint]
    if hasattr(hint, "__dataclass_fields__"):
        return _reader_of(hint)
    if get_origin(hint) in (Union, types.UnionType):
        return next(filter(None, map(_read_as, get_args(hint))), None)
    inner = _read_as(get_args(hint)[-1]) if get_origin(hint) in (list, dict) else None
    if inner is None:
        return None
    if get_origin(hint) is list:
        return lambda values: [inner(value) for value in values]
    return lambda values: {key: inner(value) for key, value in values.items()}


def _moment(text: str) -> datetime:
    # Python 3.10 knows no Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


MOMENTS: dict[Any, Read] = {datetime: _moment, date: date.fromisoformat}
