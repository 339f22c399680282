"""Stability of the order of runs with fewer topics: tau of the run means over random subsets of the topics.

Sanderson and Zobel 2005 and others ask how many topics a collection needs; here the two sides are two conditions.
"""

from dataclasses import dataclass

import numpy as np

from reports.metrics.agreement import ScoreTable, pair
from reports.metrics.arrays import Counts
from reports.metrics.bootstrap import run_level_taus
from reports.metrics.policies import TopicChoice

STEPS = 20
"""Points of a curve: more would lie closer than a picture shows."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Run-level tau over `topics` topics: mean and central 95 % of the `samples` subsets in which it is defined."""

    topics: int
    mean: float
    low: float
    high: float
    samples: int


def tau_by_topics(
    x: ScoreTable, y: ScoreTable, topics: TopicChoice = "all", *, samples: int = 100, seed: int = 0
) -> tuple[CurvePoint, ...]:
    """Return the run-level tau for up to `STEPS` numbers of topics, from 2 to all that the run means are over.

    Subsets are drawn without replacement. A number of topics at which no subset has a defined tau is left out. Equal
    arguments give equal points. Raises ValueError for `samples` below 1.
    """
    if samples < 1:
        raise ValueError("samples must be positive")
    both = pair(x, y)
    x_topics, y_topics = both.run_topics(topics)
    used = x_topics | y_topics
    every = int(used.sum())
    points = []
    for size in curve_sizes(every):
        # There is only one subset with all topics: its tau is that of the page.
        draws = subsets(every, size, 1 if size == every else samples, seed)
        taus = run_level_taus(both, topics, used, draws)
        known = taus[~np.isnan(taus)]
        if known.size:
            low, high = np.quantile(known, [0.025, 0.975])
            points.append(CurvePoint(size, float(known.mean()), float(low), float(high), len(known)))
    return tuple(points)


def curve_sizes(every: int) -> list[int]:
    """Return at most `STEPS` numbers of topics, evenly from 2 to all; none for fewer than two topics."""
    if every < 2:
        return []
    sizes: list[int] = np.unique(np.linspace(2, every, min(STEPS, every - 1)).round().astype(np.int64)).tolist()
    return sizes


def subsets(every: int, size: int, samples: int, seed: int) -> Counts:
    """Return random subsets of `size` of all topics as rows of 0 and 1, samples x every."""
    rng = np.random.default_rng([seed, size])  # each size draws its own, whichever others the curve has
    rank = rng.random((samples, every)).argsort(axis=1).argsort(axis=1)
    return (rank < size).astype(np.int64)
