"""Texts of passages from the sources of `TEXT_SOURCES`: a request each, to the source's own address."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import httpx2
from django.conf import settings

from evaluation.errors import BadInput, InputProblem, no_such
from evaluation.formats.lines import json_line
from evaluation.formats.segments import SegmentRecord, as_segment, parse_segments
from evaluation.formats.source import Source
from llmjobs.client import retry_after
from web.environment import secret
from web.outbound import TextSource
from web.transport import LimitedTransport, PackingError, ReplyTooLongError

MOST_BYTES = 5 * 2**20
"""Of a text. A reply may have twice as many: JSON escapes what is not ASCII."""
TIMEOUT_SECONDS = 60.0
NOT_THERE = "Not there."
PAGE = "A page of HTML, and no text."
PAGE_START = re.compile(r"\s*+(?:<\?xml[^>]*+>\s*+)?<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
TOO_LONG = f"A text of over {MOST_BYTES // 2**20} MB."


class Outcome(Enum):
    TEXT = auto()
    NONE = auto()
    """The source has no usable text, and would say so again."""
    AGAIN = auto()
    LATER = auto()
    """The source wants, or needs, some rest from all requests."""
    CLOSED = auto()
    """The source gives nothing to this key."""


@dataclass(frozen=True, slots=True)
class TextReply:
    """Reply of a source. `line`: of a file of segments, with the text; `wait`: seconds that the source asks for."""

    outcome: Outcome
    reason: str = ""
    line: str = ""
    wait: float | None = None


def source_named(name: str) -> TextSource:
    """Return a source of the setting. Raises `Refused` with the names that there are."""
    sources = {source.name: source for source in settings.TEXT_SOURCES}
    if name not in sources:
        raise no_such("no_such_source", f"source {name} in TEXT_SOURCES", sources)
    return sources[name]


def open_source(source: TextSource) -> httpx2.Client:
    """Return a client for one source, which threads may share. The key goes to this address and nowhere else."""
    key = secret(source.key, os.environ) if source.key else ""
    return httpx2.Client(
        transport=LimitedTransport(source.address, 2 * MOST_BYTES),
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=TIMEOUT_SECONDS,
        # A redirect would carry the key to wherever it points.
        follow_redirects=False,
    )


def ask(client: httpx2.Client, source: TextSource, docid: str) -> TextReply:
    try:
        response = client.get(source.address_of(docid))
    except httpx2.TransportError as error:
        return _reply_to(error)
    except (httpx2.InvalidURL, ValueError):
        return TextReply(Outcome.NONE, "No address can hold this docid.")
    if response.status_code == 200:
        return _text_reply(docid, response)
    return _reply_by_status(response.status_code, response.headers)


def _reply_to(error: httpx2.TransportError) -> TextReply:
    match error:
        case ReplyTooLongError():
            return TextReply(Outcome.NONE, TOO_LONG)
        case PackingError():
            return TextReply(Outcome.AGAIN, "A reply that cannot be unpacked.")
        case httpx2.TimeoutException():
            return TextReply(Outcome.LATER, f"No answer within {TIMEOUT_SECONDS:g} s.")
    return TextReply(Outcome.LATER, f"No connection: {str(error).rstrip('.') or type(error).__name__}.")


def _reply_by_status(status: int, headers: Mapping[str, str]) -> TextReply:
    match status:
        case 404 | 410:
            return TextReply(Outcome.NONE, NOT_THERE)
        case 401 | 403:
            return TextReply(Outcome.CLOSED, f"access refused (status {status}).")
        case 429 | 503:
            reason = "Too many requests" if status == 429 else "Not available now"
            # A rest of no time is none: the next request is a try, and later than at once.
            return TextReply(Outcome.LATER, f"{reason} (status {status}).", wait=retry_after(headers) or None)
        case 301 | 302 | 303 | 307 | 308:
            return TextReply(Outcome.NONE, f"A redirect, which is not followed (status {status}).")
    outcome = Outcome.AGAIN if status >= 500 or status in {408, 425} else Outcome.NONE
    return TextReply(outcome, f"Status {status}.")


def _text_reply(docid: str, response: httpx2.Response) -> TextReply:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in {"text/html", "application/xhtml+xml"}:
        return TextReply(Outcome.NONE, PAGE)
    try:
        # The mark of the byte order is no part of a text, also where the head names the encoding.
        text = response.content.decode(response.charset_encoding or "utf-8").removeprefix("\ufeff")
    except (UnicodeError, LookupError):
        return TextReply(Outcome.NONE, "No UTF-8.")
    if PAGE_START.match(text):
        return TextReply(Outcome.NONE, PAGE)
    try:
        record = _record(docid, text, is_json=kind.endswith("json"))
    except BadInput as wrong:
        problem = wrong.problems[0]
        return TextReply(Outcome.NONE, f"{problem.field}: {problem.expected}.")
    if len(record.text.encode()) > MOST_BYTES:
        return TextReply(Outcome.NONE, TOO_LONG)
    return TextReply(Outcome.TEXT, line=_line_of(record))


def _record(docid: str, text: str, *, is_json: bool) -> SegmentRecord:
    """Read a reply: a passage in any form of a file of segments, or a text alone. Raises `BadInput`."""
    try:
        fields: Any = as_segment(json.loads(text)) if is_json or text.lstrip().startswith("{") else {"text": text}
    except (ValueError, RecursionError):
        fields = {} if is_json else {"text": text}
    if not isinstance(fields, dict):
        fields = {}
    # A number of the service's own may stand in `id`. Candidates would be several passages.
    passage = {key: value for key, value in fields.items() if key not in {"id", "candidates"}}
    [record] = parse_segments(Source("reply", "", ((1, json.dumps({"docid": docid} | passage)),)))
    if record.docid != docid:
        raise BadInput([InputProblem("reply", 1, "docid", f"{docid}, found {record.docid}")])
    return record


def _line_of(record: SegmentRecord) -> str:
    fields = ("docid", "text", "title", "headings", "url", "start_char", "end_char")
    return json_line(
        {name: getattr(record, name) for name in fields if getattr(record, name) not in {"", None}}, {}
    )
