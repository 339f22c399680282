"""Win rates: mean points of a run's battles against the field, with intervals that cluster by topic.

With a(t) and n(t) a run's points and battles in topic t, N and m their sum and mean, and C topics:
v = C / (C - 1) · sum of (a - m n)² / N² + .5 / N², and the interval is m ± t(.975, C - 1) · √v.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from reports.metrics.arrays import Counts, Floats, ratio
from reports.metrics.battles.sheet import BattleSheet
from reports.metrics.intervals import Estimate, Interval, student, two_sided_p
from reports.metrics.significance import holm

SPREAD: Final = 0.206
SHARED: Final = 0.024
"""Variance of a battle's points, and what each further battle of an answer adds; fitted to simulated campaigns."""
FEW_BATTLES: Final = 0.5
"""Variance, over N², that keeps the interval of a run open that won or lost all."""


@dataclass(frozen=True, slots=True)
class WinRates:
    """Win rates R (nan: no battle) with their standard errors; battles and residuals by topic, T x R."""

    value: Floats
    error: Floats
    by_topic: Floats
    residual: Floats

    @property
    def battles(self) -> Floats:
        total: Floats = self.by_topic.sum(axis=0)
        return total

    @property
    def topics(self) -> Counts:
        number: Counts = (self.by_topic > 0).sum(axis=0)
        return number

    def interval(self, run: int) -> Interval:
        return _cut(float(self.value[run]), float(self.error[run]), int(self.topics[run]))


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Difference of two runs' win rates, a less b; `holm`: p adjusted for all pairs, both nan without an interval."""

    a: int
    b: int
    value: float
    interval: Interval
    p: float
    holm: float


def win_rates(sheet: BattleSheet) -> WinRates:
    shape = len(sheet.topic_ids), len(sheet.run_ids)
    points, battles = np.zeros(shape), np.zeros(shape)
    for runs, of_run in ((sheet.first, sheet.points), (sheet.second, 1 - sheet.points)):
        np.add.at(points, (sheet.topic, runs), of_run)
        np.add.at(battles, (sheet.topic, runs), 1.0)
    return clustered(points, battles)


def clustered(points: Floats, numbers: Floats, few: float = FEW_BATTLES) -> WinRates:
    """Return means of points whose sums and numbers are known by topic, T x R and T x R."""
    whole = numbers.sum(axis=0)
    value = ratio(points.sum(axis=0), whole)
    residual = ratio(points - np.nan_to_num(value) * numbers, whole)
    topics = (numbers > 0).sum(axis=0)
    variance = _corrected(topics) * (residual**2).sum(axis=0) + ratio(few * np.ones_like(whole), whole**2)
    return WinRates(value, np.sqrt(variance), numbers, residual)


def share_of(points: Sequence[tuple[float, str]]) -> Estimate | None:
    """Return the mean of points, each with its topic, clustered by topic; None where there are none.

    The interval is cut to 0..1, and has no ends for a single topic.
    """
    if not points:
        return None
    _, place = np.unique([topic for _, topic in points], return_inverse=True)
    sums = np.bincount(place, weights=[value for value, _ in points]).astype(np.float64)
    means = clustered(sums[:, np.newaxis], np.bincount(place).astype(np.float64)[:, np.newaxis])
    return Estimate(float(means.value[0]), means.interval(0))


def differences(rates: WinRates, runs: list[int]) -> list[RunDifference]:
    """Compare every two of these runs, by t over the topics in which either has a battle."""
    at = np.array(runs, dtype=np.int64)
    first, second = np.triu_indices(len(at), k=1)
    a, b = at[first], at[second]
    products = rates.residual.T @ rates.residual
    squares = np.diag(products)[a] + np.diag(products)[b] - 2 * products[a, b]
    fought = (rates.by_topic > 0).astype(np.int64)
    topics = fought.sum(axis=0)[a] + fought.sum(axis=0)[b] - (fought.T @ fought)[a, b]
    few = FEW_BATTLES / rates.battles[a] ** 2 + FEW_BATTLES / rates.battles[b] ** 2
    error = np.sqrt(_corrected(topics) * np.maximum(squares, 0.0) + few)
    value = rates.value[a] - rates.value[b]
    freedom = topics - 1
    p = np.array([two_sided_p(t, n) for t, n in zip((value / error).tolist(), freedom.tolist(), strict=True)])
    reach = np.array([student(n) for n in freedom.tolist()]) * error
    return [
        RunDifference(
            int(i), int(j), float(gap), Interval(float(gap - half), float(gap + half)), float(one), float(all_)
        )
        for i, j, gap, half, one, all_ in zip(a, b, value, reach, p, holm(p), strict=True)
    ]


def expected_half_width(battles: int, runs: int, topics: int) -> float | None:
    """Half of a win rate's 95 % interval, cut to 0..1, to expect of so many battles in all; None for a single topic."""
    of_run = 2 * battles / runs
    if topics < 2 or not battles:
        return None
    variance = (SPREAD + SHARED * (of_run / topics - 1)) / of_run + FEW_BATTLES / of_run**2
    return min(student(topics - 1) * sqrt(variance), 0.5)


def reliability(rates: WinRates, runs: list[int]) -> float | None:
    """Share of the spread of win rates that is no noise; None below two runs, or where all are equal."""
    if len(runs) < 2:
        return None
    spread = float(rates.value[runs].var(ddof=1))
    return 1 - float((rates.error[runs] ** 2).mean()) / spread if spread else None


def _corrected(topics: Counts) -> Floats:
    return ratio(topics, topics - 1)


def _cut(value: float, error: float, topics: int) -> Interval:
    if topics < 2:
        return Interval()
    reach = student(topics - 1) * error
    return Interval(max(value - reach, 0.0), min(value + reach, 1.0))
