"""Order of the passages at a desk, and what repeats in them."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from evaluation.terms import PassageOrder

DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class GradedPlace:
    docid: str
    document: str
    grade: int
    start: int | None = None


def reading_order(
    places: Iterable[GradedPlace], order: PassageOrder, seed: str, grouped: bool
) -> list[GradedPlace]:
    """Return the places in the order of reading. The seed is the topic's own, so all its assessors read alike."""
    # Grades order the passages and are never shown: the assessor judges the text, not the qrels.
    key = _shuffled(seed) if order is PassageOrder.SHUFFLE else _ranked
    ordered = sorted(places, key=key)
    return _with_their_documents(ordered) if grouped else ordered


def _ranked(place: GradedPlace) -> tuple[int, str]:
    return -place.grade, place.docid


def _shuffled(seed: str) -> Callable[[GradedPlace], tuple[int, str]]:
    """A shuffle by hash: a segment that comes later is put in, and the others keep their order."""

    def key(place: GradedPlace) -> tuple[int, str]:
        digest = sha256(f"{seed}\n{place.docid}".encode()).digest()
        return int.from_bytes(digest[:8], "big"), place.docid

    return key


def _with_their_documents(ordered: Sequence[GradedPlace]) -> list[GradedPlace]:
    """Put each document's segments in the place of its first, in the order of the document."""
    documents: dict[str, list[GradedPlace]] = {}
    for place in ordered:
        documents.setdefault(place.document, []).append(place)
    return [place for places in documents.values() for place in sorted(places, key=_in_document)]


def _in_document(place: GradedPlace) -> tuple[bool, int, list[tuple[int, int, str]]]:
    """Sort key: where the segment starts, else by its docid with numbers as numbers."""
    parts = [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in DIGITS.split(place.docid)]
    return place.start is None, place.start or 0, parts


def normalised(sentence: str) -> str:
    """Form in which two sentences count as the same: width, case and white space do not matter."""
    return " ".join(unicodedata.normalize("NFKC", sentence).casefold().split())


def repeats(passages: Iterable[tuple[str, Sequence[str]]]) -> list[list[int | None]]:
    """Say for each sentence in which earlier passage of the same document it stood first, by that passage's index.

    `passages` are (document, sentences) in the order of reading. None: it is new. A passage that says something twice
    does not repeat an earlier one.
    """
    seen: dict[tuple[str, str], int] = {}
    repeated: list[list[int | None]] = []
    for index, (document, sentences) in enumerate(passages):
        keys = [(document, normalised(sentence)) for sentence in sentences]
        repeated.append([seen.get(key) for key in keys])
        for key in keys:
            seen.setdefault(key, index)
    return repeated
