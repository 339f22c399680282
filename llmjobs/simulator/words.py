"""Words of any script, and how many of them two texts share: all that the simulated LLM understands."""

import re
import unicodedata
from functools import lru_cache

# Scripts written without spaces: each character counts as a word.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
WORD = re.compile(f"[{UNSPACED}]|[^\\W_{UNSPACED}]+")
SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|[\n\r]+|[؛؟،。！？；，、।]+|,\s+|\s[-–—]\s|[()\[\]|]+")  # noqa: RUF001
MARKUP = re.compile(r"<[^<>]{1,200}>")

# Words that say nothing about what a text is about. Other languages do without a list: their overlap is just higher.
EMPTY_WORDS = """
a about after all also am an and any are as at be because been before being but by can could did do does doing for from
had has have having he her his how i if in into is it its may might more most no nor not of on or other our out over own
s same she should so some such t than that the their them then there these they this those to too under up us very was
we were what when where which while who whom why will with would you your
"""
EMPTY = frozenset(EMPTY_WORDS.split())


def fold(text: str) -> str:
    # Writers set or leave out accents and vowel signs.
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.category(letter).startswith("M"))


def words(text: str) -> list[str]:
    return WORD.findall(fold(text))


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Distinct words that carry meaning, or all words where none does."""
    found = frozenset(words(text))
    return found - EMPTY or found


def share(of: frozenset[str], found_in: frozenset[str]) -> float:
    """Share of some words among others; 0 for no words."""
    return len(of & found_in) / len(of) if of else 0.0


def clauses(text: str, longest: int) -> list[str]:
    """Clauses of at most `longest` words, without markup and quotes."""
    plain = MARKUP.sub(" ", text).replace('"', "").replace("\\", "")
    found: list[str] = []
    for piece in SENTENCE_END.split(plain):
        parts = piece.strip(" .!?;:,*#_'").split()
        found += [" ".join(parts[start : start + longest]) for start in range(0, len(parts), longest)]
    return [clause[:120] for clause in found if clause]
