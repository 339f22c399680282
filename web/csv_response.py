"""Cells of CSV files for spreadsheets, which run a text that looks like a formula."""

from typing import TypeVar

Cell = TypeVar("Cell")

# What Excel, LibreOffice and Google Sheets begin a formula with, the full-width forms among it, and what they skip.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001


def safe_cell(value: Cell) -> Cell | str:
    """Return a cell that no spreadsheet takes for a formula: a text that looks like one gets an apostrophe.

    Numbers stay numbers. Formats that programs read back are not written with this.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
