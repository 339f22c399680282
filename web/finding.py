"""Palette: texts whose words begin as what somebody types, in groups."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.urls import reverse

from web.words import terms

MOST = 8
"""Hits of a group."""
MOST_WORDS, LONGEST_WORD = 6, 60


@dataclass(frozen=True, slots=True)
class Hit:
    text: str
    address: str
    note: str = ""


class Words:
    """Typed words. A text is a hit where each of them begins one of its words."""

    def __init__(self, typed: str) -> None:
        self.words = [word[:LONGEST_WORD] for word in typed.split()[:MOST_WORDS]]
        self._patterns = [re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE) for word in self.words]

    def are_in(self, hit: Hit) -> bool:
        return all(pattern.search(f"{hit.text} {hit.note}") for pattern in self._patterns)


def groups_of_hits(words: Words, groups: Iterable[tuple[str, Iterable[Hit]]]) -> list[dict[str, Any]]:
    parts = ((caption, [asdict(hit) for hit in hits if words.are_in(hit)][:MOST]) for caption, hits in groups)
    return [{"caption": caption, "hits": hits} for caption, hits in parts if hits]


def glossary_hits() -> Iterator[Hit]:
    address = reverse("glossary")
    for term in terms().values():
        yield Hit(term.word, f"{address}#{term.key}", term.code)
