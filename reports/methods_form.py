"""The methods report as sections of sentences and tables, and as JSON and LaTeX."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reports.latex import as_latex, escaped
from reports.rendering import Row, as_json
from web.templatetags.assay import words

UNDEFINED = "\N{EN DASH}"
PREAMBLE = r"""% For pdfLaTeX, XeLaTeX and LuaLaTeX. Names in other scripts than Latin need one of the latter two,
% and a font that has them.
\documentclass{article}
\usepackage{iftex}
\ifpdftex\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi
\usepackage{booktabs,float}
\usepackage[margin=2cm]{geometry}
\setlength{\belowcaptionskip}{6pt}"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the report: rows, and which of their keys stand under which heading."""

    caption: str
    columns: Mapping[str, str]
    rows: Sequence[Row]

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """What stands above each column, and whether it has numbers."""
        return [(heading, self._has_numbers(name)) for name, heading in self.columns.items()]

    @property
    def shown(self) -> list[Row]:
        """The rows as people read them: a score by its name, not by its code."""
        return [{name: _in_words(name, one) for name, one in row.items()} for row in self.rows]

    @property
    def cells(self) -> list[list[tuple[str, bool]]]:
        """The rows as a page shows them, each cell with whether its column has numbers."""
        numbers = {name: self._has_numbers(name) for name in self.columns}
        return [[(_shown(row.get(name)), numbers[name]) for name in self.columns] for row in self.shown]

    def _has_numbers(self, name: str) -> bool:
        values = [row[name] for row in self.rows if row.get(name) not in (None, "")]
        return bool(values) and all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)


@dataclass(frozen=True, slots=True)
class Section:
    """One section: sentences, then tables."""

    title: str
    sentences: Sequence[str]
    tables: Sequence[Table] = field(default=())


@dataclass(frozen=True, slots=True)
class MethodsReport:
    """The whole report."""

    title: str
    slug: str
    revision: int
    sections: Sequence[Section]


def methods_json(report: MethodsReport) -> str:
    """Return the report for programs: each section's sentences and the rows of its tables."""
    sections = [
        {
            "title": one.title,
            "sentences": list(one.sentences),
            "tables": [{"caption": table.caption, "rows": list(table.rows)} for table in one.tables],
        }
        for one in report.sections
    ]
    head = {"campaign": report.slug, "title": report.title, "revision": report.revision}
    return as_json(head | {"sections": sections})


def methods_latex(report: MethodsReport) -> str:
    """Return the report as a LaTeX document. Each table stands where it is spoken of."""
    lines = [PREAMBLE, rf"\title{{Methods: {escaped(report.title)}}}", r"\date{}"]
    lines += [r"\begin{document}", r"\maketitle"]
    for one in report.sections:
        lines += ["", rf"\section*{{{escaped(one.title)}}}", *map(escaped, one.sentences)]
        for table in filter(lambda table: table.rows, one.tables):
            body = as_latex(table.shown, table.columns)
            caption = rf"\caption{{{escaped(table.caption)}}}"
            lines += ["", r"\begin{table}[H]\centering\footnotesize", caption, body, r"\end{table}"]
    return "\n".join([*lines, "", r"\end{document}", ""])


def changed(report: MethodsReport, change: Callable[[str], str]) -> MethodsReport:
    """Return the report with every text changed but headings."""
    sections = [
        Section(
            one.title,
            [change(sentence) for sentence in one.sentences],
            [Table(table.caption, table.columns, _changed_rows(table.rows, change)) for table in one.tables],
        )
        for one in report.sections
    ]
    return MethodsReport(report.title, report.slug, report.revision, sections)


def _changed_rows(rows: Sequence[Row], change: Callable[[str], str]) -> list[Row]:
    return [{key: change(one) if isinstance(one, str) else one for key, one in row.items()} for row in rows]


def _in_words(name: str, value: Any) -> Any:
    return words(value) if name == "score" and isinstance(value, str) else value


def _shown(value: Any) -> str:
    if value is None or value == "":
        return UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
