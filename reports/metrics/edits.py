"""Edits of assessors to the drafts, topic by topic (the list-QA study's taxonomy; docs/metrics.md#edit-taxonomy).

Computed from lineage, never asked. Lists without recorded lineage are matched by their wording, and
the result says that it is inferred: it then knows no splits and no merges.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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
"""Letters of a word. In a shorter one a single edit makes another word, as in `now` and `not`."""
EDIT_CLASSES = ("no_edit", "add_nugget", "remove_nugget", "major_edit", "minor_edit", "importance_change")
SIMILAR = 0.5
"""Token Jaccard from which two wordings are taken for one nugget (docs/metrics.md#edit-taxonomy)."""

Lineage: TypeAlias = Sequence[Sequence[int]]


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
    """Kind of rewording from one text to the other; white space never counts."""
    if before.split() == after.split():
        return "none"
    if "".join(tokens(before)) == "".join(tokens(after)):  # `on-line` became `online`
        return "minor"
    old, new = _content(before), _content(after)
    return "minor" if _only_respelt(list((old - new).elements()), list((new - old).elements())) else "major"


def _content(text: str) -> Counter[str]:
    return Counter(word for word in tokens(text) if word not in FUNCTION_WORDS)


def _only_respelt(old: list[str], new: list[str]) -> bool:
    """Return true where each changed word is another spelling of one on the other side."""
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
    """Return true for two spellings of one word: an edit apart (two in long words), same initial, no digit.

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


@dataclass(frozen=True, slots=True)
class NuggetText:
    """A nugget as the taxonomy sees it; importance 2 vital, 1 okay, 0 unknown or not given."""

    text: str
    importance: int = 0


@dataclass(frozen=True, slots=True)
class TopicEdits:
    """Classes that occur in one topic, a subset of EDIT_CLASSES; inferred: lineage was not recorded."""

    classes: frozenset[str]
    inferred: bool


def topic_edits(
    drafts: Sequence[NuggetText], edited: Sequence[NuggetText], lineage: Lineage | None = None
) -> TopicEdits:
    """Classify one topic's edits.

    `lineage` names, for each edited nugget, the positions of the drafts it comes from: none for an added one,
    several for a merge; a draft named by several was split. Raises ValueError where it does not fit the lists.
    """
    if lineage is not None:
        _check_lineage(lineage, len(drafts), len(edited))
    parents = [tuple(dict.fromkeys(each)) for each in lineage or ()]
    if lineage is None:
        parents = infer_parents([draft.text for draft in drafts], [nugget.text for nugget in edited])
    classes = _structural(parents, len(drafts)) | _by_pair(drafts, edited, parents)
    return TopicEdits(frozenset(classes or {"no_edit"}), inferred=lineage is None)


def infer_parents(drafts: Sequence[str], edited: Sequence[str]) -> list[tuple[int, ...]]:
    """At most one draft for each edited text: equal normalised text first, then greedily by Jaccard.

    Pairs of at least 0.5 token Jaccard are taken best first, ties in list order.
    """
    matched = _equal_texts(drafts, edited)
    rest = [i for i in range(len(drafts)) if i not in matched.values()]
    open_ = [j for j in range(len(edited)) if j not in matched]
    similar = [(-jaccard(drafts[i], edited[j]), i, j) for i in rest for j in open_]
    for distance, i, j in sorted(similar):
        if -distance >= SIMILAR and j not in matched and i not in matched.values():
            matched[j] = i
    return [(matched[j],) if j in matched else () for j in range(len(edited))]


def _check_lineage(lineage: Lineage, drafts: int, edited: int) -> None:
    if len(lineage) != edited:
        raise ValueError(f"lineage of {len(lineage)} nuggets for a list of {edited}")
    if any(not 0 <= parent < drafts for parents in lineage for parent in parents):
        raise ValueError(f"lineage names a draft outside 0..{drafts - 1}")


def _equal_texts(drafts: Sequence[str], edited: Sequence[str]) -> dict[int, int]:
    """Edited position to draft position where the normalised texts are equal, repeats in order.

    An identical text wins over one that only normalises to the same.
    """
    matched: dict[int, int] = {}
    for key in (str, tokens):
        keys = [key(text) for text in drafts]
        for j, text in enumerate(edited):
            free = (i for i, other in enumerate(keys) if other == key(text) and i not in matched.values())
            if j not in matched and (i := next(free, None)) is not None:
                matched[j] = i
    return matched


def _structural(parents: Sequence[tuple[int, ...]], drafts: int) -> set[str]:
    """Classes that show in the lineage alone: added, removed, merged or split.

    The order of the list is no class: it follows the importance labels. Word order inside a nugget is.
    """
    # Merging and splitting change what a nugget says even where the words stay, so both are major.
    children = Counter(parent for each in parents for parent in each)
    classes = {
        "add_nugget": any(not each for each in parents),
        "remove_nugget": len(children) < drafts,
        "major_edit": any(len(each) > 1 for each in parents) or any(n > 1 for n in children.values()),
    }
    return {name for name, present in classes.items() if present}


def _by_pair(
    drafts: Sequence[NuggetText], edited: Sequence[NuggetText], parents: Sequence[tuple[int, ...]]
) -> set[str]:
    """Classes that show between a nugget and its only draft: rewording and importance."""
    classes: set[str] = set()
    for nugget, each in zip(edited, parents, strict=True):
        if len(each) == 1:
            draft = drafts[each[0]]
            classes.add(f"{difference(draft.text, nugget.text)}_edit")
            if nugget.importance != draft.importance and nugget.importance and draft.importance:
                classes.add("importance_change")
    return classes - {"none_edit"}
