"""CSV files for spreadsheets, which run a text that looks like a formula."""

import csv
from collections.abc import Iterable
from typing import TypeVar

from django.http import HttpResponse

Cell = TypeVar("Cell")

# Signs with which Excel, LibreOffice and Google Sheets begin a formula, full-width ones too, and signs that they skip.
FORMULA_STARTS = frozenset("=+-@\t\r\n＝＋－＠")  # noqa: RUF001


def safe_cell(value: Cell) -> Cell | str:
    """Apostrophe before a text that looks like a formula. Formats that programs read back are not written with this."""
    return f"'{value}" if isinstance(value, str) and value[:1] in FORMULA_STARTS else value


def csv_response(name: str, rows: Iterable[Iterable[object]]) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    csv.writer(response).writerows([safe_cell(cell) for cell in row] for row in rows)
    return response
