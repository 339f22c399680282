"""Verdict on an LLM judge: its kappa with people beside that of people among themselves, and where it is weak.

Both figures are of one task, in one measure, each with its jackknife interval over topics.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from reports.metrics.intervals import FEWEST_TOPICS
from reports.metrics.jackknife import Jackknife

FEWEST_PAIRS: Final = 100
LEEWAY: Final = 0.10
"""Kappa by which a judge may fall short of people."""
FEWEST_IN_SLICE: Final = 30
WEAKER: Final = 0.15
"""Kappa or agreement by which a slice falls short of the whole where a judge is weak."""
ROUNDING: Final = 1e-9


class JudgeVerdict(StrEnum):
    TOO_LITTLE = "Too little known"
    AS_PEOPLE = "As people agree"
    BELOW_PEOPLE = "Below people"
    NOT_SETTLED = "Not settled"


@dataclass(frozen=True, slots=True)
class Slice:
    """Part of the pairs: those of a language, whose figure is kappa, or of a people's label, whose is agreement."""

    name: str
    pairs: int
    figure: float | None


def verdict_of(judge: Jackknife, pairs: int, people: Jackknife) -> tuple[JudgeVerdict, str]:
    missing = _missing(judge, pairs, people)
    ends = judge.interval.ends
    if missing or ends is None or people.value is None:
        return JudgeVerdict.TOO_LITTLE, missing
    (low, high), bound = ends, people.value - LEEWAY
    beside = f"people's {people.value:.2f} less {LEEWAY:.2f}"
    if low >= bound - ROUNDING:
        return JudgeVerdict.AS_PEOPLE, f"the interval begins at {low:.2f}, not below {beside}"
    if high < bound - ROUNDING:
        return JudgeVerdict.BELOW_PEOPLE, f"the interval ends at {high:.2f}, below {beside}"
    return JudgeVerdict.NOT_SETTLED, f"the interval, {low:.2f} to {high:.2f}, has {beside} inside"


def weak_at(whole: float | None, slices: Iterable[Slice]) -> tuple[str, ...]:
    """Return the names of slices of enough pairs that lie far below the whole."""
    if whole is None:
        return ()
    return tuple(
        part.name
        for part in slices
        if part.pairs >= FEWEST_IN_SLICE and part.figure is not None and part.figure <= whole - WEAKER + ROUNDING
    )


def _missing(judge: Jackknife, pairs: int, people: Jackknife) -> str:
    if pairs < FEWEST_PAIRS:
        return f"{pairs} pairs with people of the {FEWEST_PAIRS} that it needs"
    if judge.topics < FEWEST_TOPICS:
        return f"{judge.topics} topics with people of the {FEWEST_TOPICS} that it needs"
    if judge.interval.ends is None:
        return f"no interval: {judge.interval.reason}"
    if not people.topics:
        return "nothing was judged twice, so there is no figure of people"
    if people.topics < FEWEST_TOPICS:
        return f"{people.topics} topics judged twice by people of the {FEWEST_TOPICS} that it needs"
    # A figure of people without an interval rests on too little to measure a judge by.
    return "" if people.interval.ends else f"no figure of people: {people.interval.reason}"
