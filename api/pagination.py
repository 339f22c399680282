"""The rows that a request is about, whether they are rows of a table or computed: a page of them, or all."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, Protocol

from django.conf import settings
from django.db.models import QuerySet
from django.http import QueryDict

from api.problems import Errors, WrongQuery
from evaluation.rows.base import Reader, Row

SIZE = 8
DIRECTIONS = (b"<", b">")


@dataclass(frozen=True, slots=True)
class Cursor:
    """Before or after which key a page stands."""

    after: bool
    key: int


def seal(collection: str, cursor: Cursor) -> str:
    """Return the cursor as a word. The same place is always the same word, so that a page's ETag stays."""
    plain = DIRECTIONS[cursor.after] + cursor.key.to_bytes(SIZE, "big")
    mark = _digest(b"mark", collection, plain)[:SIZE]
    return urlsafe_b64encode(mark + _mixed(plain, mark, collection)).rstrip(b"=").decode()


def unseal(collection: str, word: str) -> Cursor:
    """Return the cursor of a word. Raises ValueError for what was not sealed here for this collection."""
    raw = urlsafe_b64decode(word.encode("ascii") + b"=" * (-len(word) % 4))
    mark, mixed = raw[:SIZE], raw[SIZE:]
    plain = _mixed(mixed, mark, collection)
    if len(plain) != SIZE + 1 or not hmac.compare_digest(mark, _digest(b"mark", collection, plain)[:SIZE]):
        raise ValueError("no cursor of this list")
    return Cursor(plain[:1] == DIRECTIONS[True], int.from_bytes(plain[1:], "big"))


def _mixed(text: bytes, mark: bytes, collection: str) -> bytes:
    pad = _digest(b"pad", collection, mark)
    return bytes(one ^ other for one, other in zip(text, pad, strict=False))


def _digest(what: bytes, collection: str, payload: bytes) -> bytes:
    key = b"api.cursors:" + what + b":" + collection.encode()
    return hmac.new(settings.SECRET_KEY.encode() + key, payload, sha256).digest()


Keyed = tuple[int, Row]


class Selection(Protocol):
    """Rows in the order of keys that never change."""

    def stretch(self, cursor: Cursor | None, size: int) -> list[Keyed]:
        """Return up to so many rows after the cursor, or before it, nearest first."""
        ...

    def all(self) -> Iterator[Row]: ...


@dataclass(frozen=True, slots=True)
class Stored:
    """Rows of a table."""

    reader: Reader
    rows: QuerySet[Any]

    def stretch(self, cursor: Cursor | None, size: int) -> list[Keyed]:
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
        if cursor is None:
            return list(self.found[:size])
        if cursor.after:
            return [one for one in self.found if one[0] > cursor.key][:size]
        return [one for one in reversed(self.found) if one[0] < cursor.key][:size]

    def all(self) -> Iterator[Row]:
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


USUAL_PAGE, LARGEST_PAGE = 100, 1000


class Form(StrEnum):
    """How rows leave: a page in an envelope, or all of them as a stream."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class ListParams:
    """A request for a list, its filters not yet checked."""

    form: Form
    page_size: int
    cursor: Cursor | None
    filters: QueryDict


def asked_of(query: QueryDict, collection: str, known: frozenset[str]) -> ListParams:
    """Return what a query asks for. Raises `WrongQuery`, with everything that is wrong about it."""
    errors: Errors = {}
    filters = query.copy()
    for name in query:
        if name not in known and name not in PAGING:
            errors[name] = ["There is no such parameter."]
        elif len(query.getlist(name)) > 1:
            errors[name] = ["This parameter can be given once."]
        elif not query[name]:
            errors[name] = ["This parameter has no value."]
        if name in PAGING:
            del filters[name]
    form = _form(query.get("format", Form.JSON), errors)
    if form is not Form.JSON:
        errors |= {name: ["A stream has no pages."] for name in ("cursor", "page_size") if name in query}
    size = _page_size(query.get("page_size", str(USUAL_PAGE)), errors)
    cursor = _cursor(query.get("cursor", ""), collection, errors)
    if errors:
        raise WrongQuery(errors)
    return ListParams(form, size, cursor, filters)


PAGING = ("format", "cursor", "page_size")


def _form(text: str, errors: Errors) -> Form:
    if text in list(Form):
        return Form(text)
    errors.setdefault("format", [f"One of {', '.join(Form)}."])
    return Form.JSON


def _page_size(text: str, errors: Errors) -> int:
    if text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= LARGEST_PAGE:
        return int(text)
    errors.setdefault("page_size", [f"A number from 1 to {LARGEST_PAGE}."])
    return USUAL_PAGE


def _cursor(text: str, collection: str, errors: Errors) -> Cursor | None:
    if not text:
        return None
    try:
        return unseal(collection, text)
    except ValueError:
        errors.setdefault("cursor", ["This cursor is not of this list: follow the links of a page."])
        return None
