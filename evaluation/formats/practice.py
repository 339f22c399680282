"""Practice items: one line each, with the label that is known and why it is right."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from evaluation.formats.ids import Text
from evaluation.formats.lines import Line, Once, json_rows
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.rules.practice import codes_of
from evaluation.terms import PracticeKind

NEEDED: Final = {
    PracticeKind.ASSIGN: ("question", "text"),
    PracticeKind.SUPPORT: ("text",),
    PracticeKind.IMPORTANCE: ("question",),
}


@dataclass(frozen=True, slots=True)
class PracticeRow:
    """One item. Labels are stored codes; `shown_label` is None where nothing is shown as a machine's."""

    line: int
    kind: PracticeKind
    question: str
    text: str
    statement: str
    label: int
    explanation: str
    shown_label: int | None = None

    @property
    def item(self) -> tuple[object, ...]:
        """What somebody who practises is shown: an item is the same where this is."""
        return (self.kind, self.question, self.text, self.statement, self.shown_label)

    @property
    def key(self) -> tuple[int, str]:
        """What they are told after their answer."""
        return (self.label, self.explanation)


class PracticeLine(Line):
    """A JSONL line."""

    kind: str
    question: Text | None = None
    text: Text | None = None
    statement: Text
    label: str
    explanation: Text
    shown_label: str | None = None


def parse_practice(source: Source) -> tuple[PracticeRow, ...]:
    """All items in file order; equal repetitions are dropped, one item with two labels refuses the file.

    Raises `BadInput`: an unknown kind or label, a text that the kind needs and the line lacks or the other way round.
    """
    problems = Problems(source.name)
    once = Once(problems, "label")
    rows: list[PracticeRow] = []
    for line, found in json_rows(source, PracticeLine.model_validate_json, problems):
        wrong = list(_wrong(found))
        for field, expected in wrong:
            problems.add(line, field, expected)
        if not wrong:
            row = _row(line, found)
            if once.is_new(line, row.item, row.key, f"{row.statement[:40]!r}"):
                rows.append(row)
    problems.raise_if_any()
    return tuple(rows)


def _wrong(found: PracticeLine) -> Iterator[tuple[str, str]]:
    if found.kind not in list(PracticeKind):
        yield "kind", f"{' or '.join(PracticeKind)}, found {found.kind[:40]!r}"
        return
    kind = PracticeKind(found.kind)
    for field in NEEDED[kind]:
        if getattr(found, field) is None:
            yield field, f"a text: {kind} needs one"
    if kind is PracticeKind.IMPORTANCE and found.text is not None:
        yield "text", "nothing: an importance is told from the question alone"
    words = codes_of(kind)
    if found.label not in words:
        yield "label", f"{' or '.join(words)}, found {found.label[:40]!r}"
    if found.shown_label is not None and (kind is not PracticeKind.SUPPORT or found.shown_label not in words):
        yield "shown_label", f"{' or '.join(codes_of(PracticeKind.SUPPORT))}, and for support only"


def _row(line: int, found: PracticeLine) -> PracticeRow:
    words = codes_of(PracticeKind(found.kind))
    return PracticeRow(
        line=line,
        kind=PracticeKind(found.kind),
        question=found.question or "",
        text=found.text or "",
        statement=found.statement,
        label=words[found.label],
        explanation=found.explanation,
        shown_label=words[found.shown_label] if found.shown_label else None,
    )
