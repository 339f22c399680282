"""Reports as JSON for programs, CSV for spreadsheets, and tables for people at a terminal."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from web.csv_cells import safe_cell

Row = Mapping[str, Any]


def as_json(report: Mapping[str, Any]) -> str:
    """Return indented JSON; numbers keep all their digits, undefined ones are null."""
    return json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False)


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows with a header; undefined numbers are empty cells. Texts that a spreadsheet would run are quoted."""
    out = io.StringIO()
    names = _names(rows)
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue().rstrip("\n")


def as_table(rows: Sequence[Row]) -> str:
    """Return aligned columns: texts to the left, numbers to the right, `-` for what is undefined."""
    if not rows:
        return "(nothing)"
    names = _names(rows)
    cells = [names] + [[_shown(row.get(name)) for name in names] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    left = [all(isinstance(row.get(name), str | None) for row in rows) for name in names]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if to_left else cell.rjust(width)
            for cell, width, to_left in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in cells
    )


def _names(rows: Sequence[Row]) -> list[str]:
    """Return every column, in the order of the row that has most."""
    return list(dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row))


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
