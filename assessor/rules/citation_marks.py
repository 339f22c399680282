"""Citation marks in the sentences of an answer: shown as marks, with nothing taken out of the text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

BRACKETED = re.compile(r"\[[^\[\]]{1,2000}\]|【[^【】]{1,2000}】|\([^()]{1,2000}\)")
BETWEEN = re.compile(r"([,;])")
KIND = re.compile(
    r"\s*(?:\^|(?:docid|document|doc|passage|segment|source|reference|ref|citation|cite)(?:s?\b|(?=\d))\.?:?)\s*",
    re.IGNORECASE,
)
COUNTING = re.compile(r"\s*\d+\s*(?:[-\u2013,;]|$)")  # (1) counts, and (2, 3) may be a point
RANGE = re.compile(r"(\d{1,6})\s*[-\u2013]\s*(\d{1,6})")
TAIL = re.compile(r"†[^†]{0,80}$")  # 【1†source】


@dataclass(frozen=True, slots=True)
class CitationName:
    """Names of one citation: `raw` in its run's list, the cited docid, and its `number` on the screen."""

    raw: str
    docid: str | None
    number: int

    @property
    def index(self) -> int | None:
        """Place in the references, from 0; None where the run cites by docid."""
        return int(self.raw) if self.raw.isdecimal() and self.raw != self.docid else None


@dataclass(frozen=True, slots=True)
class Piece:
    """Piece of a sentence; all of them together are its text, but for docids in marks."""

    text: str
    is_mark: bool = False


Names = Mapping[str, str]
"""Numbers and docids that a sentence cites, each with its text on the screen."""


def pieces_of(sentences: Sequence[tuple[str, Sequence[CitationName]]]) -> list[tuple[Piece, ...]]:
    """Return the pieces of each sentence of one answer.

    A mark says in brackets only numbers or docids that its own sentence cites. Everything else is text: an interval, an
    index, a comparison.
    """
    readings = [[_names(cited, first) for _, cited in sentences] for first in (0, 1)]
    marked = [
        sum(len(list(_marks(text, names))) for (text, _), names in zip(sentences, reading, strict=True))
        for reading in readings
    ]
    if marked[0] == marked[1]:
        # Whether the run counts from 0 or from 1 is not known: a number is a mark where it is one either way.
        names = [
            {name: zero[name] for name in zero if name in first} for zero, first in zip(*readings, strict=True)
        ]
    else:
        names = readings[marked.index(max(marked))]
    return [tuple(_pieces(text, own)) for (text, _), own in zip(sentences, names, strict=True)]


def _names(cited: Sequence[CitationName], first: int) -> dict[str, str]:
    numbers = [str(citation.index + first) for citation in cited if citation.index is not None]
    # A docid is the same for every assessor and may tell where a run found it: its number on the screen stands for it.
    # Digits are shown as they are, because they may be an index after all.
    docids = {
        citation.docid: citation.docid if citation.docid.isdecimal() else str(citation.number)
        for citation in cited
        if citation.docid
    }
    return docids | dict(zip(numbers, numbers, strict=True))


def _pieces(text: str, names: Names) -> Iterator[Piece]:
    end = 0
    for start, mark_end, mark in _marks(text, names):
        if start > end:
            yield Piece(text[end:start])
        yield Piece(mark, is_mark=True)
        end = mark_end
    if end < len(text):
        yield Piece(text[end:])


def _marks(text: str, names: Names) -> Iterator[tuple[int, int, str]]:
    """Start, end and text on the screen of each mark."""
    if not names:
        return
    brackets = [(match, _mark(match[0], names)) for match in BRACKETED.finditer(text)]
    # a[0] and a[1] are indexes, though the sentence cites 0.
    has_indexes = any(mark is None and _is_after_word(match, text) for match, mark in brackets)
    for match, mark in brackets:
        if mark is not None and not (has_indexes and _is_after_word(match, text)):
            yield match.start(), match.end(), mark


def _is_after_word(match: re.Match[str], text: str) -> bool:
    return match.start() > 0 and text[match.start() - 1].isalnum()


def _mark(bracketed: str, names: Names) -> str | None:
    """Return a text in brackets as the screen has it; None where it is no mark."""
    opening, inner, closing = bracketed[0], bracketed[1:-1], bracketed[-1]
    if opening == "(" and COUNTING.match(inner):
        return None
    # A docid may hold what stands between others.
    items = [inner] if inner.strip() in names else BETWEEN.split(inner)
    parts = [_item(item, names) if place % 2 == 0 else item for place, item in enumerate(items)]
    return None if None in parts else "".join([opening, *filter(None, parts), closing])


def _item(item: str, names: Names) -> str | None:
    kind = KIND.match(item)
    rest = item[kind.end() :] if kind else item
    for name in (item.strip(), rest.strip(), TAIL.sub("", rest).strip()):
        if name in names:
            before, after = item[: item.rindex(name)], item[item.rindex(name) + len(name) :]
            return f"{before}{names[name]}{after}"
    return item if _is_cited_range(rest.strip(), names) else None


def _is_cited_range(text: str, names: Names) -> bool:
    match = RANGE.fullmatch(text)
    if not match:
        return False
    low, high = int(match[1]), int(match[2])
    return low < high <= low + len(names) and all(str(number) in names for number in range(low, high + 1))
