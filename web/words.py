"""Words on screen of what files, commands and the API call by a code: all stand in `words.toml`, or with their entry.

Definitions at hand, the glossary page and the palette read the terms.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

FILE = Path(__file__).parent / "words.toml"


class Term(BaseModel):
    """A word on screen. `code`: the same thing in files, commands and the API; `used`: captions of pages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    word: str
    code: str = ""
    definition: str
    used: tuple[str, ...] = ()

    @property
    def plural(self) -> str:
        return f"{self.word}s"


_ADDED_TERMS: list[Term] = []
_ADDED_WORDS: dict[str, str] = {}


def add_terms(added: Iterable[Term]) -> None:
    _ADDED_TERMS.extend(added)


def add_words(added: Mapping[str, str]) -> None:
    _ADDED_WORDS.update(added)


@cache
def _kept() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@cache
def terms() -> dict[str, Term]:
    kept = (Term(key=key, **entry) for key, entry in _kept()["terms"].items())
    return {term.key: term for term in sorted([*kept, *_ADDED_TERMS], key=lambda term: term.word.casefold())}


def word_of(code: str) -> str:
    """Return the word on screen of a code; a name that is no code stays as it is."""
    return _ADDED_WORDS.get(code) or str(_kept()["codes"].get(code, code))


def term_of_column(key: str, *, is_score: bool = False) -> Term | None:
    """Return the term of a column of figures; vital as a score is another term than vital as an importance."""
    by_key, name = terms().get(key.removesuffix("_id").replace("_", "-")), key.replace("_", " ")
    by_code = next((term for term in terms().values() if term.code.replace("_", " ") == name), None)
    return by_code or by_key if is_score else by_key or by_code
