"""95 % intervals of figures of labels: the jackknife over topics, or that of the share of pairs that differ.

With g over T topics, g(-t) without topic t and z = atanh g, the jackknife is tanh(z(g) ± t(.975, T - 1) · se),
se² = (T - 1) / T · sum of (z(g(-t)) - their mean)². Where fewer than 5 topics have a pair with two labels it breaks.
There the share of pairs that differ has the interval of Clopper and Pearson 1934, for the number of independent pairs
that those of topics are worth, and the figure follows from its ends.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, sqrt
from typing import Final

import numpy as np

from reports.metrics.arrays import Counts, Floats, comparable, defined
from reports.metrics.intervals import (
    FARTHEST,
    FEWEST_TOPICS,
    TAIL,
    TOO_FEW_TOPICS,
    UNDEFINED,
    UNDEFINED_WITHOUT,
    Interval,
    on_z,
    student,
)

TOO_EQUAL_LABELS: Final = "too many equal labels"
FEWEST_DIFFERING: Final = 5
"""Pairs that must differ before their spread over topics says how alike the pairs of a topic are."""
ALIKE: Final = 0.1
"""Correlation of a topic's pairs where too few differ to know it."""
NORMAL: Final = 1.96
FAR: Final = 0.5
UNSEEN: Final = 0.75
"""Least mean distance of graded labels that differ, the largest being 1: where some do (`FAR`), and where none does."""
CLOSE: Final = 1e-14


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Parts of a figure that is 1 - share of pairs that differ · distance / expected.

    `pairs` and `differing`: those of each topic, T and T. `distance`: the mean of the pairs that differ, 0 where none
    does; `expected`: that of all pairs by chance. The largest distance is 1, and without grades there is no other.
    """

    pairs: Floats
    differing: Floats
    distance: float = 1.0
    expected: float = 1.0
    is_graded: bool = False


@dataclass(frozen=True, slots=True)
class LabelFigure:
    """A figure of labels: its `value`s from sums over topics, its `parts` from what each topic adds, T x ...

    `value` turns sums ... x (what a topic has) into figures ..., nan where undefined. `has_z`: the figure lies in
    [-1, 1], and its interval is made on Fisher's z.
    """

    value: Callable[[Floats], Floats]
    parts: Callable[[Floats], Disagreement]
    has_z: bool = True


@dataclass(frozen=True, slots=True)
class Jackknife:
    """A figure over `topics` topics with pairs, and its interval."""

    value: float | None
    interval: Interval
    topics: int


def jackknife(tables: Counts | Floats, figure: LabelFigure) -> Jackknife:
    """Estimate a figure from what each topic adds to its sums, T x ...; topics without anything are none."""
    tables = tables[tables.any(axis=tuple(range(1, tables.ndim)))].astype(np.float64)
    whole = tables.sum(axis=0)
    value = defined(float(figure.value(whole)))
    return Jackknife(value, _interval(tables, whole, value, figure), len(tables))


def _interval(tables: Floats, whole: Floats, value: float | None, figure: LabelFigure) -> Interval:
    topics = len(tables)
    if topics < FEWEST_TOPICS:
        return Interval(reason=TOO_FEW_TOPICS)
    if value is None:
        return Interval(reason=UNDEFINED)
    # Rounded: of thirds that cancel out, a remainder would make a figure where nothing is left.
    without = figure.value(comparable(whole - tables))
    if np.isnan(without).any():
        return Interval(reason=UNDEFINED_WITHOUT)
    parts = figure.parts(tables)
    if (comparable(parts.differing) > 0).sum() < FEWEST_TOPICS:
        return _near_full(parts) if figure.has_z else Interval(reason=TOO_EQUAL_LABELS)
    z = np.arctanh(np.clip(without, -FARTHEST, FARTHEST)) if figure.has_z else without
    error = sqrt((topics - 1) / topics * float(((z - z.mean()) ** 2).sum()))
    reach = student(topics - 1) * error
    return on_z(value, error, topics) if figure.has_z else Interval(value - reach, value + reach)


def _near_full(parts: Disagreement) -> Interval:
    """Return the figure's interval from that of the share of pairs that differ."""
    topics, pairs, differing = len(parts.pairs), float(parts.pairs.sum()), float(parts.differing.sum())
    share = differing / pairs
    effects = [1.0]
    if 0 < share < 1:
        squares = float(((parts.differing - share * parts.pairs) ** 2).sum())
        effects.append(topics / (topics - 1) * squares / (pairs * share * (1 - share)))
    if differing < FEWEST_DIFFERING:
        effects.append(1 + (pairs / topics - 1) * ALIKE)
    low, high = clopper_pearson(share, pairs / max(effects) * (NORMAL / student(topics - 1)) ** 2)
    far = max(parts.distance, FAR if differing else UNSEEN) if parts.is_graded else 1.0
    # Processors differ in the last bits of logarithms, and a file is to be the same on all of them.
    lowest = round(1 - high * far / parts.expected, 10)
    return Interval(max(lowest, -1.0), round(1 - low * parts.distance / parts.expected, 10))


@lru_cache(maxsize=256)
def clopper_pearson(share: float, pairs: float) -> tuple[float, float]:
    """Return the exact 95 % interval of a share of independent pairs, whose number need not be whole."""
    hits = share * pairs
    low = _beta_quantile(1 - TAIL, hits, pairs - hits + 1) if share > 0 else 0.0
    high = _beta_quantile(TAIL, hits + 1, pairs - hits) if share < 1 else 1.0
    return low, high


def _beta_quantile(chance: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if _beta_below(middle, a, b) < chance else (low, middle)
    return (low + high) / 2


def _beta_below(x: float, a: float, b: float) -> float:
    """Probability of at most x, in (0, 1), of the beta distribution: the incomplete beta function."""
    # The fraction is quick only below the mean.
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_below(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    return front * _beta_fraction(x, a, b) / a


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of Press et al. 2007, 6.4.5, by Lentz's method."""
    below, above = 1 / (1 - (a + b) * x / (a + 1)), 1.0
    value, step, change = below, 0, inf
    while abs(change - 1) > CLOSE:
        step += 1
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        change = 1.0
        for term in (even, odd):
            below, above = 1 / (1 + term * below), 1 + term / above
            change *= below * above
        value *= change
    return value
