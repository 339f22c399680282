"""The rows that a request is about, whether they are rows of a table or computed: a page of them, or all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.db.models import QuerySet

from api.cursors import Cursor
from evaluation.queries.data.reading import Reader, Row

Keyed = tuple[int, Row]


class Selection(Protocol):
    """Rows in the order of keys that never change."""

    def stretch(self, cursor: Cursor | None, size: int) -> list[Keyed]:
        """Return up to so many rows after the cursor, or before it, nearest first."""
        ...

    def all(self) -> Iterator[Row]:
        """Yield all rows."""
        ...


@dataclass(frozen=True, slots=True)
class Stored:
    """Rows of a table."""

    reader: Reader
    rows: QuerySet[Any]

    def stretch(self, cursor: Cursor | None, size: int) -> list[Keyed]:
        """Return a stretch by the key's index."""
        key, rows = self.reader.key, self.rows
        if cursor is None:
            return self.reader.page(rows.order_by(key)[:size])
        if cursor.after:
            return self.reader.page(rows.filter(**{f"{key}__gt": cursor.key}).order_by(key)[:size])
        return self.reader.page(rows.filter(**{f"{key}__lt": cursor.key}).order_by(f"-{key}")[:size])

    def all(self) -> Iterator[Row]:
        """Yield all rows at constant memory."""
        return self.reader.all(self.rows)


@dataclass(frozen=True, slots=True)
class Computed:
    """Rows that were computed for this request, in the order of their keys."""

    found: Sequence[Keyed]

    def stretch(self, cursor: Cursor | None, size: int) -> list[Keyed]:
        """Return a stretch."""
        if cursor is None:
            return list(self.found[:size])
        if cursor.after:
            return [one for one in self.found if one[0] > cursor.key][:size]
        return [one for one in reversed(self.found) if one[0] < cursor.key][:size]

    def all(self) -> Iterator[Row]:
        """Yield all rows."""
        return (row for _, row in self.found)


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and where the pages before and after begin."""

    rows: list[Row]
    next: Cursor | None
    previous: Cursor | None


def page_of(selection: Selection, cursor: Cursor | None, size: int) -> Page:
    """Return a page. One row more than fits is read, to see whether there is more."""
    found = selection.stretch(cursor, size + 1)
    more, found = len(found) > size, found[:size]
    if not found:
        return Page([], None, None)
    backwards = cursor is not None and not cursor.after
    if backwards:
        found.reverse()
    before, after = Cursor(False, found[0][0]), Cursor(True, found[-1][0])
    return Page(
        rows=[row for _, row in found],
        next=after if more or backwards else None,
        previous=before if (more if backwards else cursor is not None) else None,
    )
