"""A cited passage as it is read beside the sentence that cites it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from evaluation.rules.places import LONG_PASSAGE, PassageWords, paragraphs_of, words_in

STRETCH = 400
"""Words of a stretch, about: the part of a long passage that is laid out as a whole, and only near the view."""


@dataclass(frozen=True, slots=True)
class CitedSentence:
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class CitedParagraph:
    sentences: tuple[CitedSentence, ...]
    words: int
    is_heading: bool


@dataclass(frozen=True, slots=True)
class CitedStretch:
    """Paragraphs one after the other."""

    paragraphs: tuple[CitedParagraph, ...]

    @property
    def words(self) -> int:
        return sum(paragraph.words for paragraph in self.paragraphs)


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """`places`: paragraph, share and sentence by the number of the answer's sentence; None where they are not shown."""

    public_id: str
    title: str
    paragraphs: tuple[CitedParagraph, ...]
    words: int
    places: Mapping[int, Sequence[tuple[int, float, int]]] | None

    @property
    def sentences(self) -> tuple[CitedSentence, ...]:
        return tuple(sentence for paragraph in self.paragraphs for sentence in paragraph.sentences)

    @property
    def stretches(self) -> tuple[CitedStretch, ...]:
        before = accumulate((paragraph.words for paragraph in self.paragraphs), initial=0)
        numbered = zip(before, self.paragraphs, strict=False)
        return tuple(
            CitedStretch(tuple(paragraph for _, paragraph in own))
            for _, own in groupby(numbered, key=lambda place: place[0] // STRETCH)
        )

    @property
    def is_long(self) -> bool:
        """Whether it is no part of what a pair is called, as nobody listens to that again and again."""
        return self.words > LONG_PASSAGE

    @property
    def places_json(self) -> str:
        return json.dumps(self.places, separators=(",", ":"))


def cited_passage(
    public_id: str,
    text: str,
    *,
    title: str = "",
    headings: str = "",
    helped: Mapping[int, str] | None = None,
    language: str = "",
) -> CitedPassage:
    """`helped`: the citing sentences by number, whose places in the passage are shown; None: no places are."""
    paragraphs = paragraphs_of(text.strip(), {line.strip() for line in headings.splitlines()} - {""})
    places = None
    if helped is not None:
        words = PassageWords(paragraphs)
        places = {
            number: [
                (place.paragraph, round(place.share, 3), place.sentence)
                for place in words.places(sentence, language)
            ]
            for number, sentence in helped.items()
        }
    shown = tuple(
        CitedParagraph(
            tuple(
                CitedSentence(index, sentence.strip())
                for index, sentence in enumerate(paragraph.sentences, start=paragraph.first)
            ),
            words_in(paragraph.text),
            paragraph.is_heading,
        )
        for paragraph in paragraphs
    )
    return CitedPassage(public_id, title, shown, words_in(text), places)
