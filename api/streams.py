"""Rows as a stream: JSON lines or CSV, in pieces of a size that a socket likes."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from api.asking import Form
from evaluation.queries.data.reading import Row
from web.csv_cells import safe_cell

PIECE = 64 * 1024
CONTENT_TYPES = {Form.JSONL: "application/x-ndjson", Form.CSV: "text/csv; charset=utf-8"}


def jsonl(rows: Iterable[Row], _names: Sequence[str]) -> Iterator[bytes]:
    """Yield rows as JSON, one a line."""
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
