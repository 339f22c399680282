"""Answers as they were written are cut into sentences, which people and LLMs judge one by one.

Sentences are stored when an answer is loaded, with the name of the rule: a later rule has another name, and changes no
answer that is there. Marks of citations are `[1]`, `[1, 3]`, `[1-3]`, `[^1]` and `【1†x】`.
"""

# ruff: noqa: RUF001 (the marks of many scripts look like each other)

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

from evaluation.formats.runs import CitationRecord, SentenceRecord
from evaluation.rules.sentences import WORD_CHARACTER, split
from web.text import cut

RULE: Final = "split-1"
LONGEST_NAME: Final = 100

LINE_END: Final = re.compile(r"\r\n?|\n")
FENCE: Final = re.compile(r" {0,3}(```|~~~)")
HEADING: Final = re.compile(r" {0,3}#{1,6}\s")
TABLE_ROW: Final = re.compile(r"\s*\|.*\|\s*")
RULE_LINE: Final = re.compile(r" {0,3}([-*_])(?:\s*\1){2,}\s*")
FOOTNOTE: Final = re.compile(r" {0,3}\[\^?[0-9]{1,3}\]:\s")
LIST_DASH: Final = re.compile(r"\s*[-*+•‣–▪◦·]\s+")
LIST_NUMBER: Final = re.compile(r"\s*\(?(?:[0-9]{1,3}[.)]|[A-Za-z]\))\s")
BRACKETS: Final = {")": "(", "]": "[", "}": "{", "）": "（", "」": "「", "』": "『", "】": "【"}
# The splitter of passages knows it before numbers only.
FIGURE: Final = re.compile(r"(?<!\w)figs?\.\s*$", re.IGNORECASE)

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
    written: str
    after_word: bool

    @property
    def name(self) -> str:
        """Name as a citation that leads nowhere: a bare number only where it can hardly be anything else."""
        is_number = len(self.items) == 1 and not self.after_word
        return self.items[0][0] if is_number else cut(self.written, LONGEST_NAME)


def marks_in(text: str) -> list[CitationMark]:
    return [
        CitationMark(
            *match.span(),
            items=tuple(_items(match["numbers"] or match["wide"])),
            written=match[0],
            after_word=text[max(match.start() - 1, 0) : match.start()].isalnum(),
        )
        for match in MARK.finditer(text)
        if match["numbers"] or match["wide"]
    ]


def _items(numbers: str) -> Iterator[tuple[str, int, int]]:
    for item in ITEM.finditer(numbers):
        first, last = int(item[1]), int(item[2] or item[1])
        yield item[0], min(first, last), max(first, last)


def is_cited(mark: CitationMark, references: Sequence[str], marks_from: int) -> bool:
    """Say whether all that a mark says leads to references: [0, 1] and [6, 8] may be intervals."""
    return all(marks_from <= first and last < marks_from + len(references) for _, first, last in mark.items)


def resolves(mark: CitationMark, references: Sequence[str], marks_from: int) -> bool:
    """Say whether a mark leads to one of the references at least; the first of them has the number `marks_from`."""
    end = marks_from + len(references)
    return any(max(first, marks_from) < min(last + 1, end) for _, first, last in mark.items)


def citations_of(
    marks: Iterable[CitationMark], references: Sequence[str], marks_from: int
) -> Iterator[CitationRecord]:
    """Yield the citations of marks; one without a docid for each mark that leads past the references."""
    end = marks_from + len(references)
    for mark in marks:
        for _, first, last in mark.items:
            for number in range(max(first, marks_from), min(last + 1, end)):
                yield CitationRecord(references[number - marks_from], str(number))
        if not is_cited(mark, references, marks_from):
            yield CitationRecord(None, mark.name)


@dataclass(slots=True)
class _Block:
    """Lines between which no sentence goes on: a paragraph, a list item; or a `unit`, which is one sentence.

    Of `code` and of a footnote no mark is a citation. A `footnote` says nothing of its own: it is named elsewhere.
    """

    lines: list[str]
    unit: bool = False
    code: bool = False
    footnote: bool = False

    @property
    def text(self) -> str:
        return ("\n" if self.unit else " ").join(self.lines)


class _Gap(NamedTuple):
    """What was taken out of a text: where its sentence ends with it, and where it would stand again."""

    place: int
    back: int
    written: str


@dataclass(slots=True)
class _Sentence:
    """Lines of a sentence, one but for footnotes and what has no word, and its marks."""

    lines: list[str]
    has_word: bool
    marks: list[CitationMark] = field(default_factory=list)


def answer_sentences(text: str, references: Sequence[str], marks_from: int = 1) -> tuple[SentenceRecord, ...]:
    """Return the sentences of an answer without marks and list dashes, each with the references that it cites.

    Where no mark leads to a reference, brackets with numbers are text. A mark that may be something else is left in.
    """
    blocks = list(_blocks(text))
    marks = [[] if block.code or block.footnote else marks_in(block.text) for block in blocks]
    if not any(resolves(mark, references, marks_from) for of_block in marks for mark in of_block):
        marks = [[] for _ in blocks]
    # Where a[0] leads nowhere, a[1] is an index, too.
    has_indexes = any(
        mark.after_word and not is_cited(mark, references, marks_from) for of_block in marks for mark in of_block
    )
    sentences: list[_Sentence] = []
    for block, of_block in zip(blocks, marks, strict=True):
        left_in = {
            mark.start
            for mark in of_block
            if not is_cited(mark, references, marks_from) or (has_indexes and mark.after_word)
        }
        _append(sentences, _sentences_of(block, of_block, left_in))
    return tuple(
        SentenceRecord("\n".join(sentence.lines), tuple(citations_of(sentence.marks, references, marks_from)))
        for sentence in sentences
    )


def _blocks(text: str) -> Iterator[_Block]:
    block, fence = _Block([]), ""
    for line in LINE_END.split(text):
        begun = None if fence else _begun_by(line)
        if begun or (block.unit and not fence):
            yield block
            block = begun or _Block([line])
            fence = block.lines[0].strip()[:3] if block.code else ""
            continue
        block.lines.append(line)
        if fence and line.strip().startswith(fence):
            yield block
            block, fence = _Block([]), ""
    yield block


def _begun_by(line: str) -> _Block | None:
    """Return the block that a line begins; None where it goes on with the one before it."""
    if not line.strip():
        return _Block([])
    if FENCE.match(line):
        return _Block([line], unit=True, code=True)
    if FOOTNOTE.match(line):
        return _Block([line], unit=True, footnote=True)
    if HEADING.match(line) or TABLE_ROW.fullmatch(line) or RULE_LINE.fullmatch(line):
        return _Block([line], unit=True)
    if dash := LIST_DASH.match(line):
        return _Block([line[dash.end() :]])
    return _Block([line]) if LIST_NUMBER.match(line) else None


def _sentences_of(block: _Block, marks: Sequence[CitationMark], left_in: Set[int]) -> list[_Sentence]:
    """`left_in`: starts of the marks that stay in the text, which is cut as if they did not."""
    text, gaps = _without(block.text, marks)
    parts = ([text] if block.unit else _joined_in_brackets(split(text))) or [""]
    starts = [0, *accumulate(map(len, parts))][: len(parts)]
    sentences = [_sentence(part.strip(), block) for part in parts]
    back: dict[int, list[_Gap]] = {}
    blank, end = "", -1
    for mark, gap in zip(marks, gaps, strict=True):
        # A mark between two sentences belongs to the one before it.
        number = max(bisect_left(starts, gap.place) - 1, 0)
        sentences[number].marks.append(mark)
        # What stood before marks that go stays before the one behind them: "rises [1][9]" is no "rises[9]".
        blank = _blank(gap.written) or (blank if gap.place == end else "")
        if mark.start in left_in:
            back.setdefault(number, []).append(gap._replace(written=blank + gap.written.lstrip()))
            blank = ""
        end = gap.back
    for number, own in back.items():
        sentences[number].lines = [_with(own, parts[number], starts[number]).strip()]
    return sentences


def _blank(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _with(gaps: Iterable[_Gap], part: str, start: int) -> str:
    pieces: list[str] = []
    end = 0
    for gap in gaps:
        pieces += [part[end : gap.back - start], gap.written]
        end = gap.back - start
    return "".join([*pieces, part[end:]])


def _without(text: str, marks: Sequence[CitationMark]) -> tuple[str, list[_Gap]]:
    """Return a text without its marks and the white space before them, and what was cut."""
    parts: list[str] = []
    gaps: list[_Gap] = []
    length = end = 0
    for mark in marks:
        before = text[end : mark.start]
        kept = before.rstrip()
        place = length + len(kept)
        if mark.end < len(text) and text[mark.end].isalnum():
            kept = before  # it stands between two words
        parts.append(kept)
        length += len(kept)
        gaps.append(_Gap(place, length, text[end + len(kept) : mark.end]))
        end = mark.end
    return "".join([*parts, text[end:]]), gaps


def _joined_in_brackets(parts: Sequence[str]) -> list[str]:
    """Join what was cut between brackets, or after "Fig."."""
    spans = deque(_bracketed("".join(parts)))
    joined: list[list[str]] = []
    place = 0
    for part in parts:
        while spans and spans[0][1] < place:
            spans.popleft()
        inside = bool(spans) and spans[0][0] < place
        if joined and (inside or FIGURE.search(joined[-1][-1])):
            joined[-1].append(part)
        else:
            joined.append([part])
        place += len(part)
    return ["".join(together) for together in joined]


def _bracketed(text: str) -> list[tuple[int, int]]:
    """Return the places of outermost brackets that are closed, in the order of the text."""
    opened: list[tuple[str, int]] = []
    spans: list[tuple[int, int]] = []
    for place, letter in enumerate(text):
        if letter in BRACKETS.values():
            opened.append((letter, place))
        elif opened and opened[-1][0] == BRACKETS.get(letter):
            _, start = opened.pop()
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, place))
    return spans


def _sentence(text: str, block: _Block) -> _Sentence:
    return _Sentence([text] if text else [], not block.footnote and WORD_CHARACTER.search(text) is not None)


def _append(sentences: list[_Sentence], more: Sequence[_Sentence]) -> None:
    """Append sentences. A footnote, and one without a word, as a line below a table's head, goes with its neighbour."""
    for sentence in more:
        if sentences and not (sentences[-1].has_word and sentence.has_word):
            last = sentences[-1]
            last.lines += sentence.lines
            last.marks += sentence.marks
            last.has_word = last.has_word or sentence.has_word
        elif sentence.lines or sentence.marks:
            sentences.append(sentence)
