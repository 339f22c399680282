"""Second looks: which pairs are drawn, and who is independent enough to judge them again."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from evaluation.errors import Refused
from evaluation.rules.tasks import AssessorFacts, check_language, check_person
from evaluation.rules.text import shuffled

Cell: TypeAlias = tuple[int, int]
"""A person's label and a machine's, by their codes."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A pair with the labels of two judges. `key` names it within its topic, whatever the database."""

    topic: str
    key: str
    cell: Cell

    @property
    def is_disputed(self) -> bool:
        return self.cell[0] != self.cell[1]


def draw(pairs: Iterable[LabelledPair], per_topic: int, *, seed: int, stratified: bool) -> list[LabelledPair]:
    """Return at most so many pairs of each topic, drawn without replacement; all of them where there are no more.

    A pair's place in the draw is a hash of seed, topic and key: the order in which pairs come has no effect, a topic's
    draw does not depend on other topics, and drawing more later keeps those drawn before (unless stratified).
    """
    topics: dict[str, dict[str, LabelledPair]] = defaultdict(dict)
    for pair in pairs:
        topics[pair.topic][pair.key] = pair
    drawn = []
    for topic in sorted(topics):
        keys = _drawn(topics[topic], per_topic, f"study {seed}, topic {topic}", stratified)
        drawn += [topics[topic][key] for key in sorted(keys)]
    return drawn


def draw_decoys(
    agreed: Iterable[LabelledPair], disputed: Iterable[LabelledPair], share: int, *, seed: int
) -> list[LabelledPair]:
    """Draw pairs on which both judges agree, beside those drawn: `share` percent of each topic's, rounded up."""
    numbers = Counter(pair.topic for pair in disputed)
    most = {topic: -(-number * share // (100 - share)) for topic, number in numbers.items()}
    topics: dict[str, list[LabelledPair]] = defaultdict(list)
    for pair in agreed:
        topics[pair.topic].append(pair)
    return [
        pair
        for topic, number in sorted(most.items())
        for pair in draw(topics[topic], number, seed=seed, stratified=False)
    ]


def _drawn(pairs: Mapping[str, LabelledPair], number: int, seed: str, stratified: bool) -> list[str]:
    if not stratified:
        return shuffled(seed, list(pairs))[:number]
    cells: dict[Cell, list[str]] = defaultdict(list)
    for key, pair in pairs.items():
        cells[pair.cell].append(key)
    numbers = shares({cell: len(keys) for cell, keys in cells.items()}, number)
    return [key for cell, keys in cells.items() for key in shuffled(seed, keys)[: numbers[cell]]]


def shares(sizes: Mapping[Cell, int], number: int) -> dict[Cell, int]:
    """Divide a number among cells in proportion to their sizes, by largest remainders; equal remainders go by cell.

    In proportion, so that every figure holds for all disagreements, without weights.
    """
    total = sum(sizes.values())
    if number >= total:
        return dict(sizes)
    # Exact, because floats would order equal remainders by their rounding.
    quotas = {cell: Fraction(number * size, total) for cell, size in sizes.items()}
    counts = {cell: int(quota) for cell, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda cell: (counts[cell] - quotas[cell], cell))
    for cell in by_remainder[: number - sum(counts.values())]:
        counts[cell] += 1
    return counts


def check_independent(person: AssessorFacts, *, gave_labels: bool, made_nuggets: bool) -> None:
    """Raise `Refused` for somebody who may be handed nothing, or who knows of the topic more than its texts.

    `gave_labels`: of it, whether at a desk or not, or they are whom the study compares; `made_nuggets`: the list that
    is assigned is theirs.
    """
    check_person(person)
    check_language(person)
    if person.judged:
        raise Refused("not_independent", f"{person.name} has or had its answers to judge.")
    if gave_labels:
        raise Refused("not_independent", f"{person.name} has given labels of it.")
    if made_nuggets:
        raise Refused("not_independent", f"{person.name} made its nuggets.")
    if person.makes:
        raise Refused("makes_another", f"{person.name} has a list of their own in the making.")
