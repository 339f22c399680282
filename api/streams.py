"""Rows as a stream: JSON lines or CSV, in pieces of a size that a socket likes."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import parse_etags, quote_etag
from pydantic_core import to_json
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api.pagination import Form
from evaluation.models import Campaign
from evaluation.rows.base import Row
from web.csv_response import safe_cell

PIECE = 64 * 1024
CONTENT_TYPES = {Form.JSONL: "application/x-ndjson", Form.CSV: "text/csv; charset=utf-8"}


def jsonl(rows: Iterable[Row], _names: Sequence[str]) -> Iterator[bytes]:
    piece = bytearray()
    for row in rows:
        piece += to_json(row)
        piece += b"\n"
        if len(piece) >= PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def as_csv(rows: Iterable[Row], names: Sequence[str]) -> Iterator[bytes]:
    """Yield rows as CSV with a header. What would be a formula in a spreadsheet is made a text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
        if out.tell() >= PIECE:
            yield out.getvalue().encode()
            out.seek(0)
            out.truncate()
    yield out.getvalue().encode()


def _cell(value: Any) -> Any:
    """Return a cell: nothing for null, 1 and 0 for yes and no, JSON for what is a list or an object."""
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list | dict):
        return safe_cell(json.dumps(value, ensure_ascii=False))
    return value


WRITERS: dict[Form, Callable[[Iterable[Row], Sequence[str]], Iterator[bytes]]] = {
    Form.JSONL: jsonl,
    Form.CSV: as_csv,
}


class AsAsked(BaseContentNegotiation):
    """What the address says, then what `Accept` names, else the first: nobody is turned away for their headers."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        sent = (request.content_type or "").partition(";")[0].strip()
        return next((parser for parser in parsers if parser.media_type == sent), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        there = list(renderers)
        wanted, accepted = request.query_params.get("format"), request.headers.get("Accept", "")
        named = [one for one in there if one.format == wanted]
        found = (named or [one for one in there if one.media_type in accepted] or there)[0]
        return found, found.media_type or ""


LENGTH = 32


def tag_of_body(body: bytes) -> str:
    """Return the tag of a body: it tells nothing that the body does not."""
    return quote_etag(sha256(body).hexdigest()[:LENGTH])


def tag_of_pieces(pieces: Iterable[bytes]) -> str:
    """Return the weak tag of a stream by what it says: it is made for this, and made again to be sent."""
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    return f'W/"{digest.hexdigest()[:LENGTH]}"'


def tag_of_campaigns(campaigns: Iterable[Campaign], *parts: object) -> str:
    """Return the weak tag of whatever follows from the revisions of campaigns, and from what was asked."""
    state = [(campaign.pk, campaign.created_at.isoformat(), campaign.revision) for campaign in campaigns]
    return f'W/"{sha256(repr((state, parts)).encode()).hexdigest()[:LENGTH]}"'


def is_known(request: HttpRequest, tag: str) -> bool:
    """Say whether whoever asks has it already (RFC 9110: compared weakly)."""
    tags = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in tags or tag.removeprefix("W/") in {one.removeprefix("W/") for one in tags}


def answered(request: HttpRequest, body: bytes) -> HttpResponse:
    """Return a JSON document, or that it is still the same."""
    tag = tag_of_body(body)
    response = HttpResponseNotModified() if is_known(request, tag) else HttpResponse(body)
    if response.status_code != HttpResponseNotModified.status_code:
        response["Content-Type"] = "application/json"
    response["ETag"] = tag
    return response


def keep_private(response: HttpResponseBase) -> None:
    """Say that an answer is for who asked, and good only after asking again."""
    patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ["Authorization", "Cookie"])
