"""What assessors did to the drafts, topic by topic (the list-QA study's taxonomy; method, section 2).

Computed from lineage, never asked. Lists without recorded lineage are matched by their wording, and
the result says that it is inferred: it then knows no splits and no merges.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from reports.metrics.wording import difference, jaccard, tokens

EDIT_CLASSES = (
    "no_edit",
    "add_nugget",
    "remove_nugget",
    "major_edit",
    "minor_edit",
    "importance_change",
)
SIMILAR = 0.5

Lineage: TypeAlias = Sequence[Sequence[int]]


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


@dataclass(frozen=True, slots=True)
class Incidence:
    """How many topics show a class, and their share of all topics (None without a topic)."""

    topics: int
    share: float | None


def topic_edits(
    drafts: Sequence[NuggetText], edited: Sequence[NuggetText], lineage: Lineage | None = None
) -> TopicEdits:
    """Classify one topic's edits.

    `lineage` names, for each edited nugget, the positions of the drafts it comes from: none for an
    added one, several for a merge; a draft named by several was split. Raises ValueError where it
    does not fit the lists.
    """
    if lineage is not None:
        _check_lineage(lineage, len(drafts), len(edited))
    parents = [tuple(dict.fromkeys(each)) for each in lineage or ()]
    if lineage is None:
        parents = infer_parents([draft.text for draft in drafts], [nugget.text for nugget in edited])
    found = _structural(parents, len(drafts)) | _by_pair(drafts, edited, parents)
    return TopicEdits(frozenset(found or {"no_edit"}), inferred=lineage is None)


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


def incidence(topics: Sequence[TopicEdits]) -> dict[str, Incidence]:
    """In how many topics each class occurs, keyed by EDIT_CLASSES."""
    counts = Counter(name for topic in topics for name in topic.classes)
    return {name: Incidence(counts[name], counts[name] / len(topics) if topics else None) for name in EDIT_CLASSES}


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
    children = Counter(parent for each in parents for parent in each)
    found = {
        "add_nugget": any(not each for each in parents),
        "remove_nugget": len(children) < drafts,
        "major_edit": any(len(each) > 1 for each in parents) or any(n > 1 for n in children.values()),
    }
    return {name for name, present in found.items() if present}


def _by_pair(
    drafts: Sequence[NuggetText], edited: Sequence[NuggetText], parents: Sequence[tuple[int, ...]]
) -> set[str]:
    """Classes that show between a nugget and its only draft: rewording and importance."""
    found: set[str] = set()
    for nugget, each in zip(edited, parents, strict=True):
        if len(each) == 1:
            draft = drafts[each[0]]
            found.add(f"{difference(draft.text, nugget.text)}_edit")
            if nugget.importance != draft.importance and nugget.importance and draft.importance:
                found.add("importance_change")
    return found - {"none_edit"}
