"""Correlations of a judge's scores of runs (y) with the truth (x): a figure, or why there is none.

Larger is better. Runs are given in the order of their ids, which breaks the ties that a definition must break. Values
are rounded to 10 decimals before they are compared, as in `kendall`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from reports.metrics.arrays import Floats, comparable
from reports.metrics.kendall import kendall

FEWEST: Final = 3
"""Shared runs below which no order is compared."""
RBO_P: Final = 0.9
ALL_TIED: Final = "all runs are tied on one side"
TIED_JUDGE: Final = "the judge has ties; tauap_a and tauap_b allow them"
TIED_TRUTH: Final = "the truth has ties; tauap_b allows them"
NO_GAP: Final = "the truth has no gap between scores"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation in [-1, 1], of `rbo` in [0, 1]; None where it is undefined for a `reason`. `n`: runs."""

    value: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CorrelationMethod:
    """A correlation by its name in files, and the share of each depth that `rbo` hands on. `top`: the best by truth."""

    name: str
    top: int | None = None
    rbo_p: float = RBO_P

    def __str__(self) -> str:
        return f"{self.name}@{self.top}" if self.top else self.name

    def of(self, x: Floats, y: Floats) -> Coefficient:
        """Correlate two vectors; a run that is nan on either side is left out."""
        both = ~np.isnan(x) & ~np.isnan(y)
        x, y = comparable(x[both]), comparable(y[both])
        if self.top:
            best = np.argsort(-x, kind="stable")[: self.top]
            places = np.sort(best)  # by id again
            x, y = x[places], y[places]
        if len(x) < FEWEST:
            return Coefficient(None, len(x), f"at least {FEWEST} runs that both have, found {len(x)}")
        figure = rbo(x, y, self.rbo_p) if self.name == "rbo" else METHODS[self.name](x, y)
        if isinstance(figure, str):
            return Coefficient(None, len(x), figure)
        # The last bits of a sum may lie beyond what the figure can be.
        return Coefficient(max(-1.0, min(1.0, figure)), len(x))


def method_named(text: str, rbo_p: float = RBO_P) -> CorrelationMethod | None:
    """Return the method of a name such as `kendall` or `kendall@10`, or None."""
    fitting = re.fullmatch(r"([a-z_]+)(?:@([1-9][0-9]{0,5}))?", text)
    if fitting is None or fitting[1] not in METHODS:
        return None
    return CorrelationMethod(fitting[1], int(fitting[2]) if fitting[2] else None, rbo_p)


def tau_b(x: Floats, y: Floats) -> float | str:
    tau = kendall(x, y).tau
    return ALL_TIED if tau is None else tau


def pearson(x: Floats, y: Floats) -> float | str:
    a, b = x - x.mean(), y - y.mean()
    spread = np.sqrt((a**2).sum() * (b**2).sum())
    if not np.ptp(x) or not np.ptp(y) or not spread:
        return ALL_TIED
    return float((a * b).sum() / spread)


def spearman(x: Floats, y: Floats) -> float | str:
    """Pearson of the ranks, tied runs having their mean rank."""
    return pearson(_mean_ranks(x), _mean_ranks(y))


def tau_ap(x: Floats, y: Floats) -> float | str:
    """Average precision correlation (Yilmaz, Aslam and Robertson 2008): an error among the judge's best weighs more."""
    if _has_ties(y):
        return TIED_JUDGE
    return tau_ap_a(x, y)


def tau_ap_a(x: Floats, y: Floats) -> float | str:
    """Tau-AP with ties of the judge: the mean over all orders of its tied groups."""
    if _has_ties(x):
        return TIED_TRUTH
    better = ((y[:, np.newaxis] > y[np.newaxis, :]) & (x[:, np.newaxis] > x[np.newaxis, :])).sum(axis=0)
    _, group, size = np.unique(-y, return_inverse=True, return_counts=True)
    before, right = np.cumsum(size) - size, np.bincount(group, weights=better) / size
    # Of k runs of a tied group that stand above a place, half are truly better in the mean over all orders. So a place
    # with b + k above it counts (right + k/2) / (b + k) = 1/2 + (right - b/2) / (b + k); the first place of all none.
    harmonic = np.concatenate([[0.0, 0.0], np.cumsum(1 / np.arange(1, len(x)))])
    sums = harmonic[before + size] - harmonic[before]
    total = (len(x) - 1) / 2 + float(((right - before / 2) * sums).sum())
    return 2 * total / (len(x) - 1) - 1


def tau_ap_b(x: Floats, y: Floats) -> float | str:
    """Tau-AP with ties on both sides, symmetric (Urbano and Marrero 2017)."""
    directions = [_ap_b(a, b) for a, b in ((x, y), (y, x))]
    if None in directions:
        return ALL_TIED
    return sum(figure for figure in directions if figure is not None) / 2


def tau_gap(x: Floats, y: Floats) -> float | str:
    """Tau by gaps (Gao and Oard 2015): the share of the truth's gaps above each place that is in the right order."""
    order = np.argsort(-y, kind="stable")
    gaps = x[order][:, np.newaxis] - x[order][np.newaxis, :]  # row above column
    above = np.triu(np.ones_like(gaps), 1)
    whole, right = (np.abs(gaps) * above).sum(axis=0), (np.maximum(gaps, 0) * above).sum(axis=0)
    has_gap = whole > 0
    if not has_gap.any():
        return NO_GAP
    return float(2 * (right[has_gap] / whole[has_gap]).mean() - 1)


def rbo(x: Floats, y: Floats, p: float = RBO_P) -> float:
    """Rank-biased overlap, extrapolated (Webber, Moffat and Zobel 2010); tied runs enter at one depth, together."""
    a, b = (len(side) - np.searchsorted(np.sort(side), side, side="right") + 1 for side in (x, y))
    depths = np.arange(1, len(x) + 1)
    in_a, in_b = (first[:, np.newaxis] <= depths for first in (a, b))
    agreement = 2 * (in_a & in_b).sum(axis=0) / (in_a.sum(axis=0) + in_b.sum(axis=0))
    return float(agreement[-1] * p ** len(x) + (1 - p) / p * (agreement * p**depths).sum())


METHODS: Final[Mapping[str, Callable[[Floats, Floats], float | str]]] = {
    "kendall": tau_b,
    "spearman": spearman,
    "pearson": pearson,
    "tauap": tau_ap,
    "tauap_a": tau_ap_a,
    "tauap_b": tau_ap_b,
    "tau_gap": tau_gap,
    "rbo": rbo,
}


def _has_ties(values: Floats) -> bool:
    return len(np.unique(values)) < len(values)


def _mean_ranks(values: Floats) -> Floats:
    ordered = np.sort(values)
    first, last = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    ranks: Floats = (first + last + 1) / 2
    return ranks


def _ap_b(x: Floats, y: Floats) -> float | None:
    """Return tau-AP over the pivots below y's best group, by what is above their tied group; None without one."""
    above = y[:, np.newaxis] > y[np.newaxis, :]
    right = above & (x[:, np.newaxis] > x[np.newaxis, :])
    before = above.sum(axis=0)
    pivots = before > 0
    if not pivots.any():
        return None
    return float(2 * (right.sum(axis=0)[pivots] / before[pivots]).mean() - 1)
