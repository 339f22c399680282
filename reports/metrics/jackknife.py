"""Intervals of agreement from labels topic by topic: the jackknife on Fisher's z, with Student's t.

Topics are the sampling unit: with g over T topics, g(-t) without topic t and z = atanh g, the interval is
tanh(z(g) ± t(.975, T - 1) · se), se² = (T - 1) / T · sum of (z(g(-t)) - their mean)².
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import atan, cos, pi, sin, sqrt
from typing import Final

import numpy as np

from reports.metrics.arrays import Counts, defined
from reports.metrics.confusion import linear, plain

FEWEST_TOPICS: Final = 5
TAIL: Final = 0.975
FARTHEST: Final = 0.999999
"""atanh of 1 has no end: perfect agreement is cut here."""

Figure = Callable[[Counts], float | None]
"""A figure in [-1, 1] of P x K x K counts, P pairs of judges; None where it is undefined."""


@dataclass(frozen=True, slots=True)
class Jackknife:
    """A figure over `topics` topics with pairs, and its 95 % interval, None where refused with a `reason`."""

    value: float | None
    ends: tuple[float, float] | None
    topics: int
    reason: str = ""


def pooled_kappa(counts: Counts) -> float | None:
    """Cohen's kappa of P x K x K counts, observed and expected disagreement summed over the P pairs of judges.

    Of two judges it is their kappa (De Vries et al. 2008).
    """
    return _pooled(counts, plain_weights=True)


def pooled_kappa_linear(counts: Counts) -> float | None:
    return _pooled(counts, plain_weights=False)


def shared_labels(counts: Counts) -> float | None:
    """Fraction of pairs of equal labels, in [0, 1]."""
    pairs = int(counts.sum())
    return float(np.trace(counts, axis1=-2, axis2=-1).sum() / pairs) if pairs else None


def jackknife(tables: Counts, figure: Figure) -> Jackknife:
    """Estimate a figure from T x P x K x K counts, its topics those with a pair. Refusals have a reason."""
    tables = tables[tables.sum(axis=(1, 2, 3)) > 0]
    topics, whole = len(tables), tables.sum(axis=0)
    value = figure(whole)
    if topics < FEWEST_TOPICS:
        return Jackknife(value, None, topics, f"too few topics: {topics} of the {FEWEST_TOPICS} that it needs")
    without = [figure(whole - table) for table in tables]
    known = [left for left in without if left is not None]
    if value is None:
        return Jackknife(None, None, topics, "undefined: all labels equal")
    if len(known) < topics:
        return Jackknife(value, None, topics, "undefined without one of the topics")
    z = np.arctanh(np.clip(known, -FARTHEST, FARTHEST))
    se = sqrt((topics - 1) / topics * float(((z - z.mean()) ** 2).sum()))
    middle = np.arctanh(np.clip(value, -FARTHEST, FARTHEST))
    low, high = np.tanh(middle + np.array([-1, 1]) * student(topics - 1) * se).tolist()
    return Jackknife(value, (low, high), topics)


@cache
def student(freedom: int) -> float:
    """Quantile .975 of Student's t for whole degrees of freedom, to 1e-9."""
    low, high = 0.0, 64.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, freedom) < TAIL else (low, middle)
    return (low + high) / 2


def _below(t: float, freedom: int) -> float:
    """Probability of at most t >= 0, by the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term, total = (cos(angle), cos(angle)) if odd else (1.0, 1.0)
    # Each term is the one before times cos² and a fraction: 2/3, 4/5, … for odd degrees, 1/2, 3/4, … for even ones.
    for step in range(2 if odd else 1, freedom - 1, 2):
        term *= cos(angle) ** 2 * step / (step + 1)
        total += term
    if not odd:
        return 0.5 + sin(angle) * total / 2
    inside = angle + (sin(angle) * total if freedom > 1 else 0.0)
    return 0.5 + inside / pi


def _pooled(counts: Counts, *, plain_weights: bool) -> float | None:
    labels = counts.shape[-1]
    weights = plain(labels) if plain_weights else linear(labels)
    pairs = counts.sum(axis=(1, 2))
    counts, pairs = counts[pairs > 0], pairs[pairs > 0]
    expected = counts.sum(axis=2)[:, :, np.newaxis] * counts.sum(axis=1)[:, np.newaxis, :] / pairs[:, None, None]
    chance = float((weights * expected).sum())
    if not chance:
        return None
    return defined(1 - float((weights * counts).sum()) / chance)
