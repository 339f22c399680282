"""Paragraphs of a passage in which the words of a sentence stand, each with its share of the sentence's content words.

Lexical, so that no model says where to look. Desks mark the places, and prompts keep the best paragraphs of a passage
that is too long for them.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Final

from evaluation.rules.sentences import EAST_ASIAN, split

MOST_SENTENCES: Final = 20
"""Sentences of a paragraph; a longer one, such as a page without line ends, comes in parts."""

LONG_PASSAGE: Final = 400
"""Words above which a passage is not seen as a whole: whoever reads it is shown where to look."""

CITATION_MARK: Final = re.compile(r"\[\^?\d[\d,; \u2013-]*\]")
HEADING_MARK: Final = re.compile(r"#{1,6}\s")
# Scripts without blanks between words: a word has about three letters in Thai, Lao, Tibetan, Burmese and Khmer, each
# with its signs. Chinese and Japanese have more to say: each character counts as one.
SOUTH_EAST_ASIAN: Final = "\u0e00-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"
LETTERS: Final = 3
LETTER: Final = re.compile(rf"(?=[{SOUTH_EAST_ASIAN}])\w(?:(?=[{SOUTH_EAST_ASIAN}])[^\s\w])*")
STRETCH: Final = re.compile(rf"(?:{LETTER.pattern})+")
WORD: Final = re.compile(rf"[{EAST_ASIAN}]|[^\W_{EAST_ASIAN}{SOUTH_EAST_ASIAN}]+")
COUNTED: Final = re.compile(
    rf"[{EAST_ASIAN}][^\s\w]*|(?:(?=[{SOUTH_EAST_ASIAN}])\w[^\s\w]*){{1,{LETTERS}}}"
    rf"|[^\s{EAST_ASIAN}{SOUTH_EAST_ASIAN}]+"
)

ENGLISH: Final = """
a about above after again against all also although am an and any are as at be because been before being below
between both but by can could did do does doing down during each either few for from further had has have
having he her here hers him his how i if in into is it its itself just may me might more most much must my no
nor not of off on once one only or other our out over own per same shall she should so some such than that the
their them then there these they this those through to too under until up upon us very was we were what when
where whether which while who whom whose why will with within without would you your
"""
GERMAN: Final = """
aber alle als also am an auch auf aus bei bis da damit dann das dass dem den denn der des die dies diese
diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es für gegen hat haben hatte ich
ihr ihre im in ist ja kann kein keine können man mehr mit muss nach nicht noch nur ob oder ohne sein seine
sich sie sind so über um und uns unter vom von vor war waren was wenn werden wie wir wird wurde zu zum zur
zwischen
"""
STOP_WORDS: Final = {"en": frozenset(ENGLISH.split()), "de": frozenset(GERMAN.split())}


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`first`: the number of its first sentence in the passage, from 0. The sentences joined are its text."""

    first: int
    sentences: tuple[str, ...]
    is_heading: bool = False

    @property
    def text(self) -> str:
        return "".join(self.sentences)


@dataclass(frozen=True, slots=True)
class Place:
    """A paragraph with `share` of a sentence's content words; `sentence`: number of the passage's with most of them."""

    paragraph: int
    share: float
    sentence: int


def paragraphs_of(text: str, headings: Collection[str] = ()) -> tuple[Paragraph, ...]:
    """Return the paragraphs of a passage, a heading being one: joined, they are the text. A sentence never spans two.

    `headings`: the lines that are known to be headings, besides those that begin with the marks of Markdown.
    """
    paragraphs: list[Paragraph] = []
    own: list[str] = []
    first = 0
    for index, sentence in enumerate(split(text)):
        own.append(sentence)
        if "\n" in sentence[len(sentence.rstrip()) :] or len(own) == MOST_SENTENCES:
            paragraphs.append(_paragraph(first, own, headings))
            own, first = [], index + 1
    if own:
        paragraphs.append(_paragraph(first, own, headings))
    return tuple(paragraphs)


def _paragraph(first: int, sentences: Sequence[str], headings: Collection[str]) -> Paragraph:
    text = sentences[0].strip()
    is_heading = len(sentences) == 1 and (text in headings or HEADING_MARK.match(text) is not None)
    return Paragraph(first, tuple(sentences), is_heading)


def content_words(text: str, language: str) -> frozenset[str]:
    """Words of a text without citation marks, case, accents and stop words; all words where nothing else is left."""
    words = _words(CITATION_MARK.sub(" ", text))
    return (words - stop_words_of(language)) or words


def words_in(text: str) -> int:
    """Return how many words a text has: parted by white space, or about so many where a script has none."""
    return len(COUNTED.findall(text))


def _words(text: str) -> frozenset[str]:
    folded = text.casefold()
    if not folded.isascii():
        parts = unicodedata.normalize("NFD", folded)
        folded = "".join(part for part in parts if not unicodedata.combining(part))
    stretches = (LETTER.findall(stretch) for stretch in STRETCH.findall(folded))
    return frozenset(WORD.findall(folded)).union(*map(_overlapping, stretches))


def _overlapping(letters: Sequence[str]) -> Iterator[str]:
    """Yield every few letters in a row: nobody knows where a word begins, and those of a shared word are the same."""
    return ("".join(letters[at : at + LETTERS]) for at in range(max(len(letters) - LETTERS, 0) + 1))


class PassageWords:
    """The words of each sentence of a passage, once for all sentences that cite it."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self._words = [[_words(sentence) for sentence in paragraph.sentences] for paragraph in paragraphs]
        self._first = [paragraph.first for paragraph in paragraphs]

    def places(self, sentence: str, language: str) -> list[Place]:
        """Return each paragraph with a content word of a sentence, in the order of the passage."""
        words_of_sentence = content_words(sentence, language)
        places = []
        for number, (first, words) in enumerate(zip(self._first, self._words, strict=True)):
            shared = [words_of_sentence & own for own in words]
            if held := frozenset().union(*shared):
                best = max(range(len(shared)), key=lambda at: len(shared[at]))
                places.append(Place(number, len(held) / len(words_of_sentence), first + best))
        return places


GAP: Final = "[...]"


def best_part(text: str, sentence: str, language: str, most: int) -> str:
    """Return the paragraphs of a passage with most of a sentence's words, in its order, at most `most` words in all.

    Where something is left out, "[...]" stands. The best paragraph is there in any case, with its first `most` words.
    """
    paragraphs = paragraphs_of(text)
    best = best_first(PassageWords(paragraphs).places(sentence, language))
    parts: dict[int, str] = {}
    room = most
    for number in [place.paragraph for place in best] or [0]:
        whole = paragraphs[number].text
        ends = [word.end() for word in COUNTED.finditer(whole)]
        if len(ends) <= room:
            parts[number] = whole.strip()
        elif not parts:
            parts[number] = f"{' '.join(whole[: ends[most - 1]].split())} {GAP}"
        else:
            continue
        room -= len(ends)
    pieces = [parts.get(number, GAP) for number in range(len(paragraphs))]
    return "\n\n".join(piece for piece, _ in groupby(pieces))


def sentence_with(text: str, quote: str) -> int | None:
    """Return the number, from 0, of a passage's sentence in which a quote begins; None where it stands nowhere.

    White space is folded.
    """
    words, quoted = " ".join(text.split()), " ".join(quote.split())
    at = words.find(quoted) if quoted else -1
    if at < 0:
        return None
    # In characters and not in words: between Chinese sentences there is no white space.
    before = at - words.count(" ", 0, at)
    ends = accumulate(len("".join(sentence.split())) for sentence in split(text.strip()))
    return next(number for number, end in enumerate(ends) if end > before)


def best_first(places: Sequence[Place]) -> list[Place]:
    return sorted(places, key=lambda place: (-place.share, place.paragraph))


def stop_words_of(language: str) -> frozenset[str]:
    """Of a language by its BCP 47 tag; none of one without a list. Where no language is named, it is English."""
    return STOP_WORDS.get((language or "en").split("-")[0].lower(), frozenset())
