"""Reports as JSON for programs, CSV for spreadsheets, tables for people at a terminal, and conditions in words."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import TextChoices
from django.http import HttpResponse
from django.urls import register_converter
from django.urls.converters import StringConverter

from reports.terms import condition_words
from web.csv_response import safe_cell
from web.text import p_value

Row = Mapping[str, Any]
P_VALUES = ("p", "holm", "adjusted")
ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\n": " ",
    }
)


def as_json(report: Mapping[str, Any]) -> str:
    """Return indented JSON; numbers keep all their digits, undefined ones are null."""
    return json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False)


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows with a header; undefined numbers are empty cells. Texts that a spreadsheet would run are quoted."""
    out, rows = io.StringIO(), _flat(rows)
    names = _names(rows)
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue().rstrip("\n")


def as_table(rows: Sequence[Row]) -> str:
    """Return aligned columns: texts to the left, numbers to the right, `-` for what is undefined."""
    if not rows:
        return "(nothing)"
    rows = _flat(rows)
    names = _names(rows)
    cells = [names] + [[_text(row.get(name), "-", 4, name) for name in names] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    left = [_is_text(rows, name) for name in names]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if to_left else cell.rjust(width)
            for cell, width, to_left in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in cells
    )


def _flat(rows: Sequence[Row]) -> list[Row]:
    """Return rows with the ends of intervals as cells: `vital_low` and `vital_high` of the interval of `vital`."""
    return [
        {name: value for name, value in row.items() if name != "intervals"}
        | {
            f"{name}_{end}": ends[end]
            for name, ends in row.get("intervals", {}).items()
            for end in ("low", "high")
        }
        for row in rows
    ]


def _names(rows: Sequence[Row]) -> list[str]:
    # Rows of one table may differ: closing rows have fewer columns, and the one that has most knows their order.
    return list(dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row))


def _text(value: Any, undefined: str, digits: int, name: str) -> str:
    if value is None or value == "":
        return undefined
    # Before numbers: True is an int too.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    return p_value(value, digits) if name in P_VALUES else f"{value:.{digits}f}"


def as_latex(
    rows: Sequence[Row], columns: Mapping[str, str], *, closing: Sequence[Row] = (), comment: str = ""
) -> str:
    r"""Return rows as a tabular; `columns` maps keys to headings, `closing` rows stand below a rule.

    Fractions have three decimals, as the studies print them; what is undefined is `--`. `comment` goes before the
    table, line by line, so that a table in a paper says which campaign, labels and policies it is of. Needs
    `\usepackage{booktabs}`.
    """
    aligned = "".join("l" if _is_text(rows, name) else "r" for name in columns)
    lines = [f"% {line}" for line in comment.splitlines()]
    lines += [rf"\begin{{tabular}}{{{aligned}}}", r"\toprule"]
    lines += [_line(escaped(heading) for heading in columns.values()), r"\midrule"]
    lines += [_line(_cell(row.get(name), name) for name in columns) for row in rows]
    if closing:
        lines += [r"\midrule", *(_line(_cell(row.get(name), name) for name in columns) for row in closing)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def escaped(text: str) -> str:
    return text.translate(ESCAPED)


def _line(cells: Any) -> str:
    return " & ".join(cells) + r" \\"


def _is_text(rows: Sequence[Row], name: str) -> bool:
    return all(isinstance(row.get(name), str | None) for row in rows)


def _cell(value: Any, name: str) -> str:
    return escaped(_text(value, "--", 3, name))


class TableForm(TextChoices):
    CSV = "csv", "CSV"
    JSON = "json", "JSON"
    LATEX = "tex", "LaTeX"


@dataclass(frozen=True, slots=True)
class FileTable:
    """A table: its rows, which columns a paper has under which heading, closing rows, and the whole as JSON."""

    rows: Sequence[Row]
    columns: Mapping[str, str]
    document: Row
    closing: Sequence[Row] = ()
    comment: str = ""


CONTENT_TYPES = {
    TableForm.CSV: "text/csv; charset=utf-8",
    TableForm.JSON: "application/json",
    TableForm.LATEX: "application/x-tex; charset=utf-8",
}
WRITERS: dict[TableForm, Callable[[FileTable], str]] = {
    TableForm.CSV: lambda table: as_csv(table.rows),
    TableForm.JSON: lambda table: as_json(table.document),
    TableForm.LATEX: lambda table: as_latex(
        table.rows, table.columns, closing=table.closing, comment=table.comment
    ),
}


def downloaded(table: FileTable, form: TableForm, name: str) -> HttpResponse:
    response = HttpResponse(WRITERS[form](table) + "\n", content_type=CONTENT_TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


class PictureForm(TextChoices):
    SVG = "svg", "SVG"
    PNG = "png", "PNG"
    PDF = "pdf", "PDF"


def converter_of(words: type[TextChoices]) -> type[StringConverter]:
    """Return a converter that turns a word of an address into its member, so that no view sees an unknown form."""
    parts = {"regex": "|".join(words), "to_python": staticmethod(words)}
    return type(f"{words.__name__}Converter", (StringConverter,), parts)


# Registered here and not beside the addresses: other rooms have addresses of files too, and whoever writes a view of
# one imports its form from this module.
register_converter(converter_of(TableForm), "table")
register_converter(converter_of(PictureForm), "picture")

PICTURE_TYPES = {
    PictureForm.SVG: "image/svg+xml",
    PictureForm.PNG: "image/png",
    PictureForm.PDF: "application/pdf",
}
# A screen's 72 points to an inch are too coarse for print.
PRINT_SCALE = 3
"""Points of a PNG per point of the picture: 216 to an inch."""


@lru_cache(maxsize=64)
def drawn(specification: str, form: PictureForm) -> bytes:
    """Return a Vega-Lite specification drawn; equal ones give equal bytes."""
    import vl_convert  # noqa: PLC0415  # 160 MB: only a process that draws pays for it

    if form is PictureForm.PNG:
        return vl_convert.vegalite_to_png(specification, scale=PRINT_SCALE)
    if form is PictureForm.PDF:
        return vl_convert.vegalite_to_pdf(specification)
    return vl_convert.vegalite_to_svg(specification).encode()


def with_code(code: str) -> str:
    words = condition_words(code)
    return code if words == code else f"{words} ({code})"
