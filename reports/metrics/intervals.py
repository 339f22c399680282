"""95 % intervals whose sample is the topics: Student's t for means, centred wider percentiles for resampled figures.

An interval is refused, with a reason, where it would not cover.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import atan, cos, inf, pi, sin, sqrt
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from reports.metrics.arrays import Booleans, Counts, Floats, column_means, comparable, ratio

FEWEST_TOPICS: Final = 5
FEWEST_RUNS: Final = 5
"""Four runs are six pairs, so that one swap of neighbours moves tau by a third."""
TAIL: Final = 0.975
FARTHEST: Final = 0.999999
FRACTIONS: Final = (0.0, 1.0)
UP_TO_ONE: Final = (-inf, 1.0)
AMOUNTS: Final = (0.0, inf)
"""Bounds of means: of scores, of scores by weights below 0 too, and of numbers of words, sentences or faults."""
TOO_FEW_TOPICS: Final = "too few topics"
TOO_FEW_RUNS: Final = "too few runs"
TOO_EQUAL: Final = "too many equal scores"
UNDEFINED: Final = "undefined: all labels equal"
UNDEFINED_ORDER: Final = "undefined: all scores equal"
UNDEFINED_WITHOUT: Final = "undefined without one of the topics"
NO_SPREAD: Final = "no topic differs from another"


@dataclass(frozen=True, slots=True)
class Interval:
    """95 % interval of a figure, without ends where it is refused for a `reason`.

    `resamples`: those in which the figure was defined; None where nothing was resampled. `note`: of what it is one,
    where that is not plain.
    """

    low: float | None = None
    high: float | None = None
    reason: str = ""
    resamples: int | None = None
    note: str = ""

    @property
    def ends(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def document(self) -> dict[str, Any]:
        """The interval as files and the API have it, so that `Interval(**document)` is the interval again."""
        resamples = {} if self.resamples is None else {"resamples": self.resamples}
        words = {"reason": self.reason, "note": self.note}
        return (
            {"low": self.low, "high": self.high} | resamples | {name: text for name, text in words.items() if text}
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval, which has the reason where there is none."""

    value: float | None
    interval: Interval


def documents_of(intervals: Mapping[str, Interval]) -> dict[str, dict[str, Any]]:
    return {name: interval.document for name, interval in intervals.items()}


def mean_intervals(values: Floats, bounds: tuple[float, float] = FRACTIONS) -> list[Interval]:
    """Return the t interval of each column's mean, cut to `bounds`, from scores T x R; only scored topics count."""
    has_value = ~np.isnan(values)
    topics, means = has_value.sum(axis=0), column_means(values, np.ones(len(values), dtype=np.bool_))
    squares = (np.where(has_value, values - means, 0.0) ** 2).sum(axis=0)
    errors = np.sqrt(ratio(squares, (topics - 1) * topics))
    columns = zip(
        topics.tolist(), _others(values, has_value).tolist(), means.tolist(), errors.tolist(), strict=True
    )
    return [_of_mean(number, others, mean, error, bounds) for number, others, mean, error in columns]


def difference_intervals(values: Floats, bounds: tuple[float, float]) -> list[list[Interval]]:
    """Return the paired t intervals of every two runs, row less column, R x R; only topics that both have count."""
    runs, reach = values.shape[1], bounds[1] - bounds[0]
    differences = values[:, :, np.newaxis] - values[:, np.newaxis, :]
    flat = mean_intervals(differences.reshape(len(values), runs * runs), (-reach, reach))
    return [flat[row * runs : (row + 1) * runs] for row in range(runs)]


def mean_interval_on_z(values: Floats) -> Interval:
    """Return the t interval of the mean of k figures in [-1, 1], on Fisher's z: tanh(z ± t · s / (√k (1 - mean²)))."""
    has_value = np.ones((len(values), 1), dtype=np.bool_)
    reason = _refusal(len(values), int(_others(values[:, np.newaxis], has_value)[0]))
    if reason:
        return Interval(reason=reason)
    mean = float(np.clip(values.mean(), -FARTHEST, FARTHEST))
    return on_z(mean, float(values.std(ddof=1)) / sqrt(len(values)) / (1 - mean**2), len(values))


def on_z(value: float, error: float, topics: int) -> Interval:
    """Return tanh(z ± t · error), z being atanh of the value, cut at ±.999999 because 1 has none."""
    middle, reach = np.arctanh(np.clip(value, -FARTHEST, FARTHEST)), student(topics - 1) * error
    # Processors differ in the last bits of both functions, and a file is to be the same on all of them.
    return Interval(*np.tanh([middle - reach, middle + reach]).round(10).tolist())


def resampled_interval(
    taus: Callable[[Counts], Floats],
    topics: int,
    resamples: int,
    seed: int,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Interval:
    """Return figure -+ half the distance of the wider percentiles (Hesterberg 2015) over resamples of so many topics.

    `taus` gives the figure for rows of multiplicities, how often each topic is drawn, B x T; nan where undefined.
    Plain percentiles are as narrow as if the few topics were many: these are read further out, by t and √(T/(T-1)).
    Resampling adds the topics' noise a second time, so taus of many runs lie below the figure: it is the middle.
    """
    if topics < FEWEST_TOPICS:
        return Interval(reason=TOO_FEW_TOPICS)
    every = np.ones((1, topics), dtype=np.int64)
    draws = [every, every - np.eye(topics, dtype=np.int64), draws_of(topics, resamples, seed)]
    figures = taus(np.concatenate(draws))
    resampled = figures[topics + 1 :][~np.isnan(figures[topics + 1 :])]
    # Of a handful of resamples none may have a figure.
    if np.isnan(figures[0]) or not resampled.size:
        return Interval(reason=UNDEFINED_ORDER)
    if np.isnan(figures[1 : topics + 1]).any():
        return Interval(reason=UNDEFINED_WITHOUT)
    tail = NormalDist().cdf(-sqrt(topics / (topics - 1)) * student(topics - 1))
    low, high = np.quantile(resampled, [tail, 1 - tail])
    tau, reach = float(figures[0]), float(high - low) / 2
    note = f"95 % interval for {topics} topics like these; with more topics tau would be higher"
    return Interval(max(tau - reach, bounds[0]), min(tau + reach, bounds[1]), resamples=len(resampled), note=note)


def draws_of(topics: int, resamples: int, seed: int) -> Counts:
    """Number of times that each topic is drawn, resamples x T."""
    # One multinomial draw a resample equals drawing T topics with replacement, and is ready for products.
    return np.random.default_rng(seed).multinomial(topics, np.full(topics, 1 / topics), size=resamples)


@cache
def student(freedom: int, below: float = TAIL) -> float:
    """Quantile of Student's t for whole degrees of freedom, to 1e-9; `below`: the probability below it."""
    low, high = 0.0, 64.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, freedom) < below else (low, middle)
    return (low + high) / 2


def two_sided_p(t: float, freedom: int) -> float:
    """Probability of a value of Student's t at least as far from 0."""
    return 2 * (1 - _below(abs(t), freedom))


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


def _of_mean(topics: int, others: int, mean: float, error: float, bounds: tuple[float, float]) -> Interval:
    reason = _refusal(topics, others)
    if reason:
        return Interval(reason=reason)
    reach = student(topics - 1) * error
    return Interval(max(mean - reach, bounds[0]), min(mean + reach, bounds[1]))


def _refusal(topics: int, others: int) -> str:
    """Return why the mean of values of which `others` differ from the commonest has no interval; '' where it has."""
    if topics < FEWEST_TOPICS:
        return TOO_FEW_TOPICS
    # Of 5 topics that are nearly all equal, t covers the mean of all topics in none or half of the samples.
    return TOO_EQUAL if others < (3 if topics < 8 else 5) else ""


def _others(values: Floats, has_value: Booleans) -> Counts:
    """Number of values of each column that are not its commonest one, R, from T x R; nan is no value."""
    if not len(values):
        return np.zeros(values.shape[1], dtype=np.int64)
    ordered, place = np.sort(comparable(values), axis=0), np.arange(len(values))[:, np.newaxis]
    # Equal values stand together: the longest stretch from a change on is how often the commonest occurs.
    starts = np.where(np.diff(ordered, axis=0, prepend=np.nan) == 0, 0, place)
    longest: Counts = (place - np.maximum.accumulate(starts, axis=0) + 1).max(axis=0)
    others: Counts = has_value.sum(axis=0) - longest
    return others
