"""A report of methods as data, and its forms: HTML, LaTeX and JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import TextChoices
from django.template.loader import render_to_string
from django.urls import register_converter

from evaluation.stages import stage_of
from reports.files import Row, as_json, as_latex, converter_of, escaped, with_code
from reports.metrics.agreement import ALL_TOPIC_RUN, RUN_LEVEL, TOPIC_AVERAGE
from reports.metrics.registry import BY_NAME

PREAMBLE = r"""% For pdfLaTeX, XeLaTeX and LuaLaTeX. Names in other scripts than Latin need one of the latter two,
% and a font that has them.
\documentclass{article}
\usepackage{iftex}
\ifpdftex\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi
\usepackage{booktabs,float}
\usepackage[margin=2cm]{geometry}
\setlength{\belowcaptionskip}{6pt}"""


LEVEL_WORDS = {
    RUN_LEVEL: "over run means",
    TOPIC_AVERAGE: "averaged over topics",
    ALL_TOPIC_RUN: "over all topic-run pairs",
}
WORDS_OF: Mapping[str, Callable[[str], str]] = {
    "score": lambda name: BY_NAME[name].spoken,
    "stage": lambda code: f"{stage_of(code).words} ({code})",
    "level": LEVEL_WORDS.__getitem__,
}
"""Words of the codes of a column. Those of conditions stay: a printed page is too narrow for their names."""


def code_and_names(side: str) -> tuple[str, str]:
    """Return the code of a side of a pairing, and the names that tell it from others of its condition, or ''."""
    code, _, names = side.partition(" by ")
    return code, names


def cell_text(column: str, value: Any) -> str:
    if value is None or value == "":
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if column.endswith("_s") else f"{value:.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    if column in ("condition", "x", "y"):
        code, names = code_and_names(value)
        return f"{with_code(code)}, {names}" if names else with_code(code)
    return WORDS_OF.get(column, str)(value)


@dataclass(frozen=True, slots=True)
class MethodsTable:
    caption: str
    columns: Mapping[str, str]
    rows: Sequence[Row]

    @property
    def headings(self) -> list[tuple[str, bool]]:
        return [(heading, self._has_numbers(name)) for name, heading in self.columns.items()]

    @property
    def rows_in_words(self) -> list[Row]:
        """The rows as people read them: a score by its name, not by its code."""
        return [
            {**row, **{name: WORDS_OF[name](row[name]) for name in row.keys() & WORDS_OF}} for row in self.rows
        ]

    @property
    def cells(self) -> list[list[tuple[str, bool]]]:
        numbers = {name: self._has_numbers(name) for name in self.columns}
        return [[(cell_text(name, row.get(name)), numbers[name]) for name in self.columns] for row in self.rows]

    def _has_numbers(self, name: str) -> bool:
        values = [row[name] for row in self.rows if row.get(name) not in (None, "")]
        numbers = (isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        return bool(values) and all(numbers)


@dataclass(frozen=True, slots=True)
class MethodsSection:
    title: str
    sentences: Sequence[str]
    tables: Sequence[MethodsTable] = field(default=())


@dataclass(frozen=True, slots=True)
class MethodsReport:
    title: str
    slug: str
    revision: int
    sections: Sequence[MethodsSection]


def methods_json(report: MethodsReport) -> str:
    sections = [
        {
            "title": section.title,
            "sentences": list(section.sentences),
            "tables": [{"caption": table.caption, "rows": list(table.rows)} for table in section.tables],
        }
        for section in report.sections
    ]
    head = {"campaign": report.slug, "title": report.title, "revision": report.revision}
    return as_json(head | {"sections": sections})


def methods_latex(report: MethodsReport) -> str:
    lines = [PREAMBLE, rf"\title{{Methods: {escaped(report.title)}}}", r"\date{}"]
    lines += [r"\begin{document}", r"\maketitle"]
    for section in report.sections:
        lines += ["", rf"\section*{{{escaped(section.title)}}}", *map(escaped, section.sentences)]
        for table in filter(lambda table: table.rows, section.tables):
            body = as_latex(table.rows_in_words, table.columns)
            caption = rf"\caption{{{escaped(table.caption)}}}"
            lines += ["", r"\begin{table}[H]\centering\footnotesize", caption, body, r"\end{table}"]
    return "\n".join([*lines, "", r"\end{document}", ""])


class MethodsForm(TextChoices):
    HTML = "html", "HTML"
    LATEX = "tex", "LaTeX"
    JSON = "json", "JSON"


CONTENT_TYPES = {
    MethodsForm.HTML: "text/html; charset=utf-8",
    MethodsForm.LATEX: "application/x-tex; charset=utf-8",
    MethodsForm.JSON: "application/json",
}
WRITERS: dict[MethodsForm, Callable[[MethodsReport], str]] = {
    MethodsForm.HTML: lambda report: render_to_string("reports/methods_document.html", {"report": report}),
    MethodsForm.LATEX: methods_latex,
    MethodsForm.JSON: methods_json,
}


register_converter(converter_of(MethodsForm), "methods_form")
