"""A report's table as a file: the figures that its page shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.http import HttpResponse

from reports.latex import as_latex
from reports.rendering import as_csv, as_json


class TableForm(StrEnum):
    """What a table can leave as."""

    CSV = "csv"
    JSON = "json"
    LATEX = "tex"

    @property
    def caption(self) -> str:
        """What people call it."""
        return "LaTeX" if self is TableForm.LATEX else self.upper()


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its rows, which columns a paper has under which heading, closing rows, and the whole as JSON."""

    rows: Sequence[Mapping[str, Any]]
    columns: Mapping[str, str]
    document: Mapping[str, Any]
    closing: Sequence[Mapping[str, Any]] = field(default=())
    comment: str = ""


CONTENT_TYPES = {
    TableForm.CSV: "text/csv; charset=utf-8",
    TableForm.JSON: "application/json",
    TableForm.LATEX: "application/x-tex; charset=utf-8",
}
WRITERS: dict[TableForm, Callable[[Table], str]] = {
    TableForm.CSV: lambda table: as_csv(table.rows),
    TableForm.JSON: lambda table: as_json(table.document),
    TableForm.LATEX: lambda table: as_latex(
        table.rows, table.columns, closing=table.closing, comment=table.comment
    ),
}


def downloaded(table: Table, form: TableForm, name: str) -> HttpResponse:
    """Return a table as a file to keep."""
    response = HttpResponse(WRITERS[form](table) + "\n", content_type=CONTENT_TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response
