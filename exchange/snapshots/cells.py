"""How a value stands in a file: JSON's own types, times in ISO 8601, decimals and UUIDs as text."""

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import ForeignKey

from exchange.snapshots.tables import Field

Coder = Callable[[Any], Any]


def encoder(field: Field) -> Coder | None:
    """Writer of a column's values; None where JSON has their type."""
    if isinstance(field, models.DateField):  # DateTimeField is one
        return lambda value: None if value is None else value.isoformat()
    if isinstance(field, models.DecimalField | models.UUIDField):
        return lambda value: None if value is None else str(value)
    return None


def decoder(field: Field) -> Coder:
    """Return how a column's values are read. The reader raises ValueError with what was expected."""
    for kind, (read, expected) in READERS.items():
        if isinstance(field, kind):
            return _checked(field, read, expected)
    raise TypeError(f"{field} has values that no file can hold")


def _checked(field: Field, read: Coder, expected: str) -> Coder:
    longest = field.max_length if isinstance(field, models.CharField) else None

    def checked(value: Any) -> Any:
        if value is None:
            if field.null:
                return None
            raise ValueError(f"{expected}, not null")
        try:
            found = read(value)
        except (ValueError, TypeError, InvalidOperation):
            raise ValueError(f"{expected}, found {_shown(value)}") from None
        if longest and len(found) > longest:
            raise ValueError(f"at most {longest} characters, found {len(found)}")
        return found

    return checked


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _only(*kinds: type) -> Coder:
    # The exact type: `True` is an int in Python, but no number in a file.
    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise TypeError
        return value

    return read


def _anything(value: Any) -> Any:
    return value


READERS: dict[Any, tuple[Coder, str]] = {
    models.DateTimeField: (datetime.fromisoformat, "a time"),
    models.DateField: (date.fromisoformat, "a day"),
    models.DecimalField: (lambda value: Decimal(_only(str)(value)), "a decimal number as text"),
    models.UUIDField: (lambda value: UUID(_only(str)(value)), "a UUID"),
    models.BooleanField: (_only(bool), "true or false"),
    models.FloatField: (_only(int, float), "a number"),
    models.JSONField: (_anything, "any JSON"),
    models.IntegerField: (_only(int), "a whole number"),
    ForeignKey: (_only(int), "the number of a row"),
    models.CharField: (_only(str), "text"),
    models.TextField: (_only(str), "text"),
}
