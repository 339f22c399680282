"""What nugget sets and labels look like before any score (Pradeep et al. 2025, descriptive statistics)."""

from dataclasses import dataclass

import numpy as np

from reports.metrics.arrays import Booleans, Bytes, Indices
from reports.metrics.sheets import FULL, NOT, OKAY, PARTIAL, UNKNOWN, VITAL


@dataclass(frozen=True, slots=True)
class NuggetStatistics:
    """One nugget set: `topics` with a list (empty ones too), `nuggets`, means, and shares as fractions.

    `nuggets_per_topic` is over all lists, words and shares are over nuggets; None where there is
    nothing to divide by.
    """

    topics: int
    empty_topics: int
    nuggets: int
    nuggets_per_topic: float | None
    words_per_nugget: float | None
    vital: float | None
    okay: float | None
    unknown: float | None


@dataclass(frozen=True, slots=True)
class LabelShares:
    """Shares of the judged `labels` by value, as fractions; None where there is no label."""

    labels: int
    not_support: float | None
    partial_support: float | None
    support: float | None


def nugget_statistics(
    listed: Booleans, nugget_topic: Indices, importance: Bytes, words: Indices
) -> NuggetStatistics:
    """Describe one nugget set: `listed` T, and one entry per nugget in the other three (words: `word_count`).

    Raises ValueError where the three differ in length.
    """
    if not len(nugget_topic) == len(importance) == len(words):
        raise ValueError("one topic, importance and word count per nugget expected")
    topics, nuggets = int(np.count_nonzero(listed)), len(nugget_topic)
    filled = np.isin(np.arange(len(listed)), nugget_topic)
    return NuggetStatistics(
        topics=topics,
        empty_topics=int(np.count_nonzero(listed & ~filled)),
        nuggets=nuggets,
        nuggets_per_topic=_share(nuggets, topics),
        words_per_nugget=_share(int(words.sum()), nuggets),
        vital=_share(int((importance == VITAL).sum()), nuggets),
        okay=_share(int((importance == OKAY).sum()), nuggets),
        unknown=_share(int((importance == UNKNOWN).sum()), nuggets),
    )


def label_shares(labels: Bytes) -> LabelShares:
    """Shares of the labels 0, 1, 2 among all that were given; negative cells (any shape) do not count."""
    counts = [int((labels == value).sum()) for value in (NOT, PARTIAL, FULL)]
    return LabelShares(sum(counts), *(_share(count, sum(counts)) for count in counts))


def word_count(text: str) -> int:
    """Whitespace words of a text, as for the length of answers."""
    return len(text.split())


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
