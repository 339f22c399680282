"""Parameters of a list, and a page of its rows: which rows, and where the pages before and after begin."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import QueryDict

from api.problems import Errors, WrongQuery
from evaluation.rows.base import Reader, Row

USUAL_PAGE, LARGEST_PAGE = 100, 1000
PAGING = ("format", "cursor", "page_size")


class Form(StrEnum):
    """Forms of a list: a page in an envelope, or all rows as a stream."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


class Cursor(NamedTuple):
    """The key before or after which a page begins. It stays where an offset shifts with every new row."""

    after: bool
    key: int

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'}-{self.key}"

    @classmethod
    def read(cls, word: str) -> "Cursor":
        """Raises `ValueError`."""
        direction, _, key = word.partition("-")
        # int() reads digits of every script, and a number of a million digits takes it minutes.
        if direction not in ("after", "before") or not (key.isascii() and key.isdigit() and len(key) < 19):
            raise ValueError("no cursor")
        return cls(direction == "after", int(key))


@dataclass(frozen=True, slots=True)
class ListParams:
    form: Form
    page_size: int
    cursor: Cursor | None


def list_params(query: QueryDict, names: set[str], usual: Form) -> ListParams:
    """Return the parameters, in the usual form where none is named. Raises `WrongQuery` for all wrong ones.

    The values of filters are checked later.
    """
    errors = wrong_parameters(query, names.union(PAGING))
    form, size = query.get("format", usual), query.get("page_size", str(USUAL_PAGE))
    word, cursor = query.get("cursor"), None
    if form not in list(Form):
        errors.setdefault("format", [f"One of {', '.join(Form)}."])
    elif form != Form.JSON:
        errors |= {name: ["A stream has no pages."] for name in ("cursor", "page_size") if name in query}
    if not (size.isascii() and size.isdigit() and len(size) < 6 and 1 <= int(size) <= LARGEST_PAGE):
        errors.setdefault("page_size", [f"A number from 1 to {LARGEST_PAGE}."])
    try:
        cursor = Cursor.read(word) if word else None
    except ValueError:
        errors.setdefault("cursor", ["This is no cursor: follow the links of a page."])
    if errors:
        raise WrongQuery(errors)
    return ListParams(Form(form), int(size), cursor)


def wrong_parameters(query: QueryDict, names: set[str]) -> Errors:
    return {name: [wrong] for name in query if (wrong := _wrong(query, name, names))}


def _wrong(query: QueryDict, name: str, names: set[str]) -> str | None:
    if name not in names:
        return "There is no such parameter."
    if len(query.getlist(name)) > 1:
        return "This parameter can be given once."
    return None if query[name] else "This parameter has no value."


Keyed = tuple[int, Row]


@dataclass(frozen=True, slots=True)
class Stored:
    """Rows of a table, in the order of keys that never change."""

    reader: Reader
    rows: QuerySet[Any]

    def stretch(self, cursor: Cursor | None, size: int) -> list[Keyed]:
        """Return up to `size` rows after the cursor, or before it, nearest first."""
        key, rows = self.reader.key, self.rows
        if cursor:
            rows = rows.filter(**{f"{key}__gt" if cursor.after else f"{key}__lt": cursor.key})
        return self.reader.page(rows.order_by(key if cursor is None or cursor.after else f"-{key}")[:size])

    def all(self) -> Iterator[Row]:
        return self.reader.all(self.rows)


@dataclass(frozen=True)
class Computed:
    """Rows that are computed for this request, in the order of their keys. The ETag of scores does not need them."""

    compute: Callable[[], list[Keyed]]

    @cached_property
    def rows(self) -> list[Keyed]:
        return self.compute()

    def stretch(self, cursor: Cursor | None, size: int) -> list[Keyed]:
        if cursor is None:
            return self.rows[:size]
        if cursor.after:
            return [row for row in self.rows if row[0] > cursor.key][:size]
        return [row for row in reversed(self.rows) if row[0] < cursor.key][:size]

    def all(self) -> Iterator[Row]:
        return (row for _, row in self.rows)


Selection = Stored | Computed


class Page(NamedTuple):
    """Rows of a page, and where the pages before and after begin."""

    rows: list[Row]
    next: Cursor | None
    previous: Cursor | None


def page_of(selection: Selection, cursor: Cursor | None, size: int) -> Page:
    """Return a page. One row more than fits is read, to see whether there is more: a count would read them all."""
    rows = selection.stretch(cursor, size + 1)
    more, rows = len(rows) > size, rows[:size]
    if not rows:
        return Page([], None, None)
    backwards = cursor is not None and not cursor.after
    if backwards:
        rows.reverse()
    before, after = Cursor(False, rows[0][0]), Cursor(True, rows[-1][0])
    return Page(
        rows=[row for _, row in rows],
        next=after if more or backwards else None,
        previous=before if (more if backwards else cursor is not None) else None,
    )
