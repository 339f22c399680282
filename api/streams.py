"""Forms in which rows leave, the choice among them, and ETags.

Rows are dicts until they are bytes: pydantic_core writes them, and no model checks them. A list can have a million
labels, and readers made them for this; that they fit their models is tested.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags, quote_etag
from pydantic_core import to_json
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api.pagination import Form
from evaluation.models import Campaign
from evaluation.rows.base import Row
from web.csv_response import FORMULA_STARTS, safe_cell

# A piece a row would be a system call a row.
PIECE = 64 * 1024
CONTENT_TYPES = {Form.JSONL: "application/x-ndjson", Form.CSV: "text/csv; charset=utf-8"}
ACCEPTED = {"application/json": Form.JSON, "application/x-ndjson": Form.JSONL, "text/csv": Form.CSV}


def accepted_form(request: Request) -> Form:
    """Return the form that `Accept` likes best; JSON where it names none of ours."""
    return ACCEPTED.get(request._request.get_preferred_type(list(ACCEPTED)) or "", Form.JSON)


def _jsonl(rows: Iterable[Row], _names: Sequence[str]) -> Iterator[bytes]:
    piece = bytearray()
    for row in rows:
        piece += to_json(row)
        piece += b"\n"
        if len(piece) >= PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _csv(rows: Iterable[Row], names: Sequence[str]) -> Iterator[bytes]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        # Most cells are as they are, and a call for each of a row's sixteen took half of the stream's time.
        writer.writerow(
            [
                value
                if (kind := type(value)) is int
                or value is None
                or (kind is str and value[:1] not in FORMULA_STARTS)
                else _cell(value)
                for value in row.values()
            ]
        )
        if out.tell() >= PIECE:
            yield out.getvalue().encode()
            out.seek(0)
            out.truncate()
    yield out.getvalue().encode()


def _cell(value: Any) -> Any:
    """Return a cell: nothing for null, 1 and 0 for yes and no, JSON for lists and objects."""
    if isinstance(value, str):
        return safe_cell(value)  # what a spreadsheet would take for a formula becomes a text
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        return to_json(value)[1:-1].decode()  # as in the other forms, and in half of the time of `isoformat`
    if isinstance(value, list | dict):
        return safe_cell(json.dumps(value, ensure_ascii=False))
    return value


WRITERS: dict[Form, Callable[[Iterable[Row], Sequence[str]], Iterator[bytes]]] = {
    Form.JSONL: _jsonl,
    Form.CSV: _csv,
}


class LenientNegotiation(DefaultContentNegotiation):
    """The first form where none of those that were asked for is there: nobody is turned away for their headers."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        forms = list(renderers)
        try:
            renderer, form = super().select_renderer(request, forms, format_suffix)
        except (Http404, NotAcceptable):
            return forms[0], forms[0].media_type or ""
        return renderer, form


LENGTH = 32


def tag_of_body(body: bytes) -> str:
    """Return the tag of a body. It is a hash of what the reader gets, so that it tells no more than that."""
    return quote_etag(sha256(body).hexdigest()[:LENGTH])


def tag_of_pieces(pieces: Iterable[bytes]) -> str:
    # Weak, because the rows are read again to be sent, maybe in a later state of the database.
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    return f'W/"{digest.hexdigest()[:LENGTH]}"'


def tag_of_campaigns(campaigns: Iterable[Campaign], *parts: object) -> str:
    """Return the weak tag of whatever follows from the revisions of campaigns, and from other parts."""
    # With the moment it was made: in a restored or new database, another campaign can have this key and revision.
    state = [(campaign.pk, campaign.created_at.isoformat(), campaign.revision) for campaign in campaigns]
    return f'W/"{sha256(repr((state, parts)).encode()).hexdigest()[:LENGTH]}"'


def is_known(request: HttpRequest, tag: str) -> bool:
    """Whether the client has it already. RFC 9110 compares `If-None-Match` weakly: `W/` does not count."""
    tags = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in tags or tag.removeprefix("W/") in {each.removeprefix("W/") for each in tags}


def answered(request: HttpRequest, body: bytes, content_type: str = "application/json") -> HttpResponse:
    """Return a document, or 304 where the client has it already."""
    tag = tag_of_body(body)
    response = HttpResponse(body, content_type=content_type)
    if is_known(request, tag):
        response = HttpResponseNotModified()
    response["ETag"] = tag
    return response
