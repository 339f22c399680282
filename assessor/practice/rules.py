"""Practice items: one line each, with the label that is known and why it is right."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from operator import attrgetter
from typing import Final

from evaluation.errors import Refused
from evaluation.formats.lines import Line, Once, Text, json_rows
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.labels import BATTLE_LABELS, CITATION_LABELS, NUGGET_LABELS
from evaluation.stages import Stage
from evaluation.stages.grade import ALL_GRADES
from evaluation.terms import Importance, PracticeKind
from web.text import plural

PRACTICE_LABELS: Final[Mapping[PracticeKind, tuple[IntEnum, ...]]] = {
    PracticeKind.ASSIGN: tuple(degree.code for degree in NUGGET_LABELS.degrees),
    PracticeKind.SUPPORT: tuple(degree.code for degree in CITATION_LABELS.degrees),
    PracticeKind.IMPORTANCE: (Importance.VITAL, Importance.OKAY),
    PracticeKind.GRADE: tuple(degree.code for degree in ALL_GRADES.degrees),
    PracticeKind.BATTLE: tuple(degree.code for degree in BATTLE_LABELS.degrees),
}
"""The labels of each kind, in the order of the desks."""


@dataclass(frozen=True, slots=True)
class Offered:
    """An item of a campaign's practice. `shows`: it comes with a label as a machine would give it; `label`: its own."""

    pk: int
    kind: PracticeKind
    shows: bool = False
    label: int = 0


def items_of_stage(stage: Stage, offered: Iterable[Offered]) -> tuple[int, ...]:
    """Only the stage that shows a machine's label practises with one; without such items it takes the others."""
    fitting = [item for item in offered if item.kind is stage.practice]
    plain = tuple(item.pk for item in fitting if not item.shows)
    if not stage.shows_label:
        return plain
    return tuple(item.pk for item in fitting if item.shows) or plain


def codes_of(kind: PracticeKind) -> dict[str, int]:
    return {label.name.lower(): int(label) for label in PRACTICE_LABELS[kind]}


def word_of(kind: PracticeKind, code: int) -> str:
    return next(label.name.lower() for label in PRACTICE_LABELS[kind] if label == code)


def check_done(left: int) -> None:
    if left:
        raise Refused("practice", f"Practice first: {left} {plural(left, 'item')}. Then the task can be started.")


NEEDED: Final = {
    PracticeKind.ASSIGN: ("question", "text"),
    PracticeKind.SUPPORT: ("text",),
    PracticeKind.IMPORTANCE: ("question",),
    PracticeKind.GRADE: ("question", "text"),
    PracticeKind.BATTLE: ("question", "text"),
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


content_of = attrgetter("kind", "question", "text", "statement", "shown_label")
"""Content of a row or of a loaded item that a person sees: two items are the same where this is."""
known_of = attrgetter("label", "explanation")
"""Content that a person sees after their answer."""


class PracticeLine(Line):
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
    for line, entry in json_rows(source, PracticeLine.model_validate_json, problems):
        wrong = list(_wrong(entry))
        for field, expected in wrong:
            problems.add(line, field, expected)
        if not wrong:
            row = _row(line, entry)
            if once.is_new(line, content_of(row), known_of(row), f"{row.statement[:40]!r}"):
                rows.append(row)
    problems.raise_if_any()
    return tuple(rows)


def _wrong(entry: PracticeLine) -> Iterator[tuple[str, str]]:
    if entry.kind not in list(PracticeKind):
        yield "kind", f"{' or '.join(PracticeKind)}, found {entry.kind[:40]!r}"
        return
    kind = PracticeKind(entry.kind)
    for field in NEEDED[kind]:
        if getattr(entry, field) is None:
            yield field, f"a text: {kind} needs one"
    if kind is PracticeKind.IMPORTANCE and entry.text is not None:
        yield "text", "nothing: an importance is told from the question alone"
    words = codes_of(kind)
    if entry.label not in words:
        yield "label", f"{' or '.join(words)}, found {entry.label[:40]!r}"
    if entry.shown_label is not None and (kind is not PracticeKind.SUPPORT or entry.shown_label not in words):
        yield "shown_label", f"{' or '.join(codes_of(PracticeKind.SUPPORT))}, and for support only"


def _row(line: int, entry: PracticeLine) -> PracticeRow:
    words = codes_of(PracticeKind(entry.kind))
    return PracticeRow(
        line=line,
        kind=PracticeKind(entry.kind),
        question=entry.question or "",
        text=entry.text or "",
        statement=entry.statement,
        label=words[entry.label],
        explanation=entry.explanation,
        shown_label=words[entry.shown_label] if entry.shown_label else None,
    )
