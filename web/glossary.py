"""The field's words: definitions at hand, the glossary page and the palette all read `glossary.toml`."""

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from pydantic import BaseModel, ConfigDict

from web.text import trimmed

FILE = Path(__file__).parent / "glossary.toml"


class Term(BaseModel):
    """A word on screen. `code`: the same thing in files, commands and the API; `used`: captions of pages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    word: str
    code: str = ""
    definition: str
    used: tuple[str, ...] = ()


_ADDED: list[Term] = []


def add_terms(added: Iterable[Term]) -> None:
    """Add terms that another room keeps, when it is loaded."""
    _ADDED.extend(added)


@cache
def terms() -> dict[str, Term]:
    kept = tomllib.loads(FILE.read_text(encoding="utf-8")).items()
    entries = [*(Term(key=key, **entry) for key, entry in kept), *_ADDED]
    return {term.key: term for term in sorted(entries, key=lambda term: term.word.casefold())}


def term_of_column(key: str, *, is_score: bool = False) -> Term | None:
    """Return the term of a column of figures; vital as a score is another term than vital as an importance."""
    by_key, name = terms().get(key.removesuffix("_id").replace("_", "-")), key.replace("_", " ")
    by_code = next((term for term in terms().values() if term.code.replace("_", " ") == name), None)
    return by_code or by_key if is_score else by_key or by_code


@require_safe
def glossary(request: HttpRequest) -> HttpResponse:
    words = trimmed(request.GET.get("words", "")).casefold()
    entries = [
        term for term in terms().values() if words in f"{term.word} {term.code} {term.definition}".casefold()
    ]
    return render(request, "glossary.html", {"terms": entries, "words": words})
