"""Marks of citations in a text that an LLM wrote: `[1]`, `[1, 3]`, `[1-3]`, `[^1]` and `【1†x】`."""

# ruff: noqa: RUF001 (a range may have a dash of any kind)

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from evaluation.formats.runs import CitationRecord

# Of four digits it is a year. A link's text is no mark, and `x[1]` between backticks is code.
MARK: Final = re.compile(
    r"`[^`\n]*+`"
    r"|\[\^?(?P<numbers>[0-9]{1,3}(?:\s?[-–,]\s?[0-9]{1,3})*+)\](?!\()"
    r"|【(?P<wide>[0-9]{1,3})(?:†[^】\n]*+)?】"
)
ITEM: Final = re.compile(r"([0-9]+)(?:\s?[-–]\s?([0-9]+))?")


class CitationMark(NamedTuple):
    """Place of a mark in its text, and the first and last number of each of its items as they are written."""

    start: int
    end: int
    items: tuple[tuple[str, int, int], ...]


def marks_in(text: str) -> list[CitationMark]:
    return [
        CitationMark(*match.span(), tuple(_items(match["numbers"] or match["wide"])))
        for match in MARK.finditer(text)
        if match["numbers"] or match["wide"]
    ]


def _items(numbers: str) -> Iterator[tuple[str, int, int]]:
    for item in ITEM.finditer(numbers):
        first, last = int(item[1]), int(item[2] or item[1])
        yield item[0], min(first, last), max(first, last)


def resolves(mark: CitationMark, references: Sequence[str], marks_from: int) -> bool:
    """Say whether a mark leads to one of the references at least; the first of them has the number `marks_from`."""
    end = marks_from + len(references)
    return any(max(first, marks_from) < min(last + 1, end) for _, first, last in mark.items)


def citations_of(
    marks: Iterable[CitationMark], references: Sequence[str], marks_from: int
) -> Iterator[CitationRecord]:
    """Yield the citations of marks; one without a docid for each item that leads past the references."""
    end = marks_from + len(references)
    for mark in marks:
        for written, first, last in mark.items:
            for number in range(max(first, marks_from), min(last + 1, end)):
                yield CitationRecord(references[number - marks_from], str(number))
            if first < marks_from or last >= end:
                yield CitationRecord(None, written)
