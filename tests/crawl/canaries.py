"""Canaries: a text of its own in each column that an assessor may not see, by which a leak names its source.

Columns are found by walking the models, so a new one is covered from its first day.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from django.core.signing import b64_decode
from django.db import models
from django.db.models import CharField, JSONField, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat
from django.http import HttpResponse
from django.http.response import HttpResponseBase

CANARY = re.compile(rb"canary-\d{3}")
GRADE, SCORE = 28731, 0.82937
NUMBERS = {
    "canary-grade": re.compile(rb"(?<![\w.])28731(?!\w)"),
    "canary-score": re.compile(rb"(?<!\d)0?\.(?:8294|82937)"),
}
"""Numbers that are canaries. The looks around them keep times and random ids out."""
SHORTEST_COLUMN = 16
CHECKED = {"ConditionDefault.condition"}
"""Columns whose values the database checks although the model lists no choices."""


@dataclass
class Canaries:
    kinds: dict[str, str] = field(
        default_factory=lambda: {"canary-grade": "Qrel.grade", "canary-score": "ExternalScore.value"}
    )
    may: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def canary(self, kind: str, *, of: str = "", at: str = "/") -> str:
        """Return the canary of something. `of`: who may read it, at addresses that contain `at`."""
        made = f"canary-{len(self.kinds):03}"
        self.kinds[made] = kind
        if of:
            self.allow(of, [made], at)
        return made

    def allow(self, person: str, canaries: Iterable[str], at: str = "/") -> None:
        """Let somebody read some canaries at addresses that contain `at`."""
        self.may[person] += [(canary, at) for canary in canaries]

    def plant(self, rows: QuerySet[Any], *only: str, kind: str = "") -> list[str]:
        """Replace every text of some rows, `only`: in these columns; return the canaries."""
        assert rows.exists(), f"no {rows.model.__name__} to plant canaries in"
        planted = []
        for column in text_columns(rows.model):
            if not only or column.name in only:
                planted.append(self.canary(kind or f"{rows.model.__name__}.{column.name}"))
                rows.update(**{column.name: _planted(column, planted[-1])})
        return planted

    def fill(self, row: models.Model) -> None:
        """Put canaries into an unsaved row: what is append-only cannot be planted in later."""
        for column in text_columns(type(row)):
            canary = self.canary(f"{type(row).__name__}.{column.name}")
            setattr(row, column.name, {"said": canary} if isinstance(column, JSONField) else f"{canary}-")

    def leaks(self, response: HttpResponseBase, person: str, address: str) -> list[str]:
        allowed = {canary for canary, at in self.may.get(person, []) if at in address}
        return [
            self.kinds[leak]
            for leak in sorted(canaries_in(response))
            if leak not in allowed and leak not in address
        ]


def text_columns(model: type[models.Model]) -> list[Any]:
    return [column for column in model._meta.concrete_fields if _is_free(column)]


def _is_free(column: Any) -> bool:
    if not isinstance(column, CharField | TextField | JSONField) or column.choices or column.primary_key:
        return False
    longest: int | None = column.max_length
    long_enough = longest is None or longest >= SHORTEST_COLUMN
    return long_enough and f"{column.model.__name__}.{column.name}" not in CHECKED


def _planted(column: Any, canary: str) -> Any:
    if isinstance(column, JSONField):
        return {"said": canary}
    return Concat(Value(f"{canary}-"), Cast("pk", TextField()), output_field=TextField())


def canaries_in(response: HttpResponseBase) -> set[str]:
    """Return the canaries anywhere in a response; a grade or score is one by its number."""
    raw = whole_response(response)
    found = {canary.decode() for canary in CANARY.findall(raw)}
    return found | {name for name, number in NUMBERS.items() if number.search(raw)}


def whole_response(response: HttpResponseBase) -> bytes:
    """Return all that a browser gets: status, headers, cookies (signed ones unpacked too), body."""
    headers = [f"{name}: {value}" for name, value in response.items()]
    cookies = [f"{name}={cookie.value} {cookie.OutputString()}" for name, cookie in response.cookies.items()]
    head = "\n".join([response.reason_phrase, *headers, *cookies]).encode()
    packed = b"\n".join(_unpacked(cookie.value) for cookie in response.cookies.values())
    return b"\n".join([head, packed, body_of(response)])


def body_of(response: HttpResponseBase) -> bytes:
    """Return the whole body, streamed or not; a ZIP's files, unpacked."""
    body = response.content if isinstance(response, HttpResponse) else b"".join(response)
    if not body.startswith(b"PK"):
        return body
    with ZipFile(BytesIO(body)) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


def _unpacked(cookie: str) -> bytes:
    """Return what Django packed into a signed cookie, such as messages; nothing where it is not one."""
    try:
        packed = b64_decode(cookie.lstrip(".").split(":")[0].encode())
        return zlib.decompress(packed) if cookie.startswith(".") else packed
    except (ValueError, zlib.error):
        return b""
