"""How two wordings of a nugget differ: not at all, in form only, or in what they say.

Form is spelling, case, punctuation, function words and word order. English function words are
known; in other languages every word counts as content, so a changed one is a major edit.
"""

import unicodedata
from collections import Counter
from typing import Literal, TypeAlias

Difference: TypeAlias = Literal["none", "minor", "major"]

# Words that carry no content. Negations and quantities are content: they turn a fact round.
_FUNCTION_WORDS = """
    a an the this that these those his her hers its their theirs he she it they him them who whom whose
    which what of in on at by for from to into with as and or but also than then such so
    is are was were be been being am has have had having do does did will would can could may might
    shall should must there here
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
SHORTEST_MISSPELT, LONG = 4, 10


def tokens(text: str) -> tuple[str, ...]:
    """Words of a text: compatibility-normalised, case folded, without punctuation and possessive s.

    Marks stay with their letters, so scripts with vowel signs keep whole words.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    words = "".join(c if c == "'" or unicodedata.category(c)[0] in "LNM" else " " for c in folded).split()
    bare = (word.strip("'").removesuffix("'s").replace("'", "") for word in words)
    return tuple(word for word in bare if word)


def jaccard(before: str, after: str) -> float:
    """Shared share of the distinct words of two texts, 0 to 1; 1 for two texts without a word."""
    a, b = set(tokens(before)), set(tokens(after))
    return len(a & b) / len(a | b) if a | b else 1.0


def difference(before: str, after: str) -> Difference:
    """What kind of rewording leads from one text to the other; white space never counts."""
    if before.split() == after.split():
        return "none"
    if "".join(tokens(before)) == "".join(tokens(after)):  # `on-line` became `online`
        return "minor"
    old, new = _content(before), _content(after)
    return "minor" if _only_respelt(list((old - new).elements()), list((new - old).elements())) else "major"


def _content(text: str) -> Counter[str]:
    return Counter(word for word in tokens(text) if word not in FUNCTION_WORDS)


def _only_respelt(old: list[str], new: list[str]) -> bool:
    """Whether each changed word is another spelling of one on the other side."""
    if len(old) != len(new):
        return False
    left = list(new)
    for word in old:
        match = next((other for other in left if misspelt(word, other)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def misspelt(word: str, other: str) -> bool:
    """Whether two words are spellings of one: an edit apart (two in long words), same initial, no digit.

    A digit is never a misprint here, and un-, in-, il- change the initial: both change the fact.
    """
    shorter, longer = sorted((len(word), len(other)))
    if shorter < SHORTEST_MISSPELT or word[0] != other[0] or any(c.isdigit() for c in word + other):
        return False
    allowed = 1 + (longer >= LONG)
    return longer - shorter <= allowed and edit_distance(word, other) <= allowed


def edit_distance(word: str, other: str) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours from one word to the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, c in enumerate(word, start=1):
        last, before, row = before, row, [i]
        for j, d in enumerate(other, start=1):
            steps = [before[j] + 1, row[j - 1] + 1, before[j - 1] + (c != d)]
            if i > 1 and j > 1 and c == other[j - 2] and word[i - 2] == d:
                steps.append(last[j - 2] + 1)
            row.append(min(steps))
    return row[-1]
