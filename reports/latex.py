"""Reports as LaTeX tables, in the booktabs style of papers."""

from collections.abc import Mapping, Sequence
from typing import Any

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


def as_latex(
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    *,
    closing: Sequence[Mapping[str, Any]] = (),
    comment: str = "",
) -> str:
    r"""Return rows as a tabular; `columns` maps keys to headings, `closing` rows stand below a rule.

    Fractions have three decimals, what is undefined is `--`. `said` goes before the table as a comment. Needs
    `\usepackage{booktabs}`.
    """
    aligned = "".join("l" if _is_text(rows, name) else "r" for name in columns)
    lines = [f"% {line}" for line in comment.splitlines()]
    lines += [rf"\begin{{tabular}}{{{aligned}}}", r"\toprule"]
    lines += [_line(escaped(heading) for heading in columns.values()), r"\midrule"]
    lines += [_line(_cell(row.get(name)) for name in columns) for row in rows]
    if closing:
        lines += [r"\midrule", *(_line(_cell(row.get(name)) for name in columns) for row in closing)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def escaped(text: str) -> str:
    """Return a text as LaTeX prints it."""
    return text.translate(ESCAPED)


def _line(cells: Any) -> str:
    return " & ".join(cells) + r" \\"


def _is_text(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    return all(isinstance(row.get(name), str | None) for row in rows)


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "--"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else escaped(str(value))
