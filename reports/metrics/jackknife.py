"""Intervals of agreement from labels topic by topic: the jackknife, on Fisher's z or as it is, with Student's t.

Topics are the sampling unit: with g over T topics, g(-t) without topic t and z = atanh g, the interval is
tanh(z(g) ± t(.975, T - 1) · se), se² = (T - 1) / T · sum of (z(g(-t)) - their mean)².
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from reports.metrics.arrays import Counts, Floats, comparable, defined
from reports.metrics.intervals import (
    FARTHEST,
    FEWEST_TOPICS,
    TOO_FEW_TOPICS,
    UNDEFINED,
    UNDEFINED_WITHOUT,
    Interval,
    on_z,
    student,
)

Figure = Callable[[Floats], Floats]
"""A figure of sums over topics, ... x (what a topic has); of N such sums N figures, nan where undefined."""


@dataclass(frozen=True, slots=True)
class Jackknife:
    """A figure over `topics` topics with pairs, and its interval."""

    value: float | None
    interval: Interval
    topics: int


def jackknife(tables: Counts | Floats, figure: Figure, *, has_z: bool = True) -> Jackknife:
    """Estimate a figure from what each topic adds to its sums, T x ...; topics without anything are none.

    `has_z`: the figure lies in [-1, 1], and its interval is made on Fisher's z.
    """
    tables = tables[tables.any(axis=tuple(range(1, tables.ndim)))].astype(np.float64)
    topics, whole = len(tables), tables.sum(axis=0)
    value = defined(float(figure(whole)))
    if topics < FEWEST_TOPICS:
        return Jackknife(value, Interval(reason=TOO_FEW_TOPICS), topics)
    # Rounded: of thirds that cancel out, a remainder would make a figure where nothing is left.
    without = figure(comparable(whole - tables))
    if value is None or np.isnan(without).any():
        return Jackknife(value, Interval(reason=UNDEFINED if value is None else UNDEFINED_WITHOUT), topics)
    z = np.arctanh(np.clip(without, -FARTHEST, FARTHEST)) if has_z else without
    error = sqrt((topics - 1) / topics * float(((z - z.mean()) ** 2).sum()))
    reach = student(topics - 1) * error
    return Jackknife(
        value, on_z(value, error, topics) if has_z else Interval(value - reach, value + reach), topics
    )
