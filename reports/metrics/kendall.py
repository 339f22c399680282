"""Kendall's tau-b with its parts, for one pair of vectors and for many at once.

tau-b = (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y) (Kendall 1945, "The
treatment of ties in ranking problems"; Pradeep et al. 2025 report it at three levels). Values are
rounded to 10 decimals before they are compared.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from reports.metrics.arrays import Booleans, Counts, Floats, comparable, ratio

CHUNK_CELLS = 200_000  # comparisons at once: as many as stay in a processor's cache


@dataclass(frozen=True, slots=True)
class Ties:
    """Pairs that are tied: in x alone, in y alone, in both."""

    x: int = 0
    y: int = 0
    both: int = 0


@dataclass(frozen=True, slots=True)
class Kendall:
    """Tau-b in [-1, 1], or None where it is undefined, of n observations, with the counts of pairs."""

    tau: float | None
    n: int
    ties: Ties
    concordant: int
    discordant: int


@dataclass(frozen=True, slots=True)
class KendallRows:
    """Tau-b of each of K rows (nan where undefined) and the counts of pairs of each; all arrays K."""

    tau: Floats
    n: Counts
    tied_x: Counts
    tied_y: Counts
    tied_both: Counts
    concordant: Counts
    discordant: Counts

    @property
    def ties(self) -> Ties:
        return Ties(int(self.tied_x.sum()), int(self.tied_y.sum()), int(self.tied_both.sum()))


def kendall(x: Floats, y: Floats) -> Kendall:
    """Tau-b of two vectors of n values, in O(n log n), with exact counts.

    Undefined (None) where one side is constant or n < 2. Raises ValueError for unequal lengths or nan.
    """
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"two vectors of one length expected, found {x.shape} and {y.shape}")
    if np.isnan(x).any() or np.isnan(y).any():
        raise ValueError("values must be numbers: leave undefined ones out of both vectors")
    a, b = dense_ranks(x), dense_ranks(y)
    pairs = len(a) * (len(a) - 1) // 2
    both = _tied(a * (len(b) + 1) + b)  # one number for each pair of ranks
    tied_x, tied_y = _tied(a), _tied(b)
    # Sorted by x, ties of x by y: a pair that is tied in x is then never in the wrong order.
    discordant = _inversions(b[np.lexsort((b, a))])
    concordant = pairs - tied_x - tied_y + both - discordant
    tau = tau_b(concordant - discordant, pairs - tied_x, pairs - tied_y)
    return Kendall(tau, len(a), Ties(tied_x - both, tied_y - both, both), concordant, discordant)


def kendall_rows(x: Floats, y: Floats) -> KendallRows:
    """Tau-b of each row of two K x R matrices; a cell that is nan on either side is left out.

    Raises ValueError for unequal shapes.
    """
    if x.shape != y.shape or x.ndim != 2:
        raise ValueError(f"two matrices of one shape expected, found {x.shape} and {y.shape}")
    gap = np.isnan(x) | np.isnan(y)
    a, b = (np.where(gap, np.nan, comparable(side)) for side in (x, y))
    step = max(1, CHUNK_CELLS // max(1, x.shape[1] ** 2))
    parts = [_row_counts(a[k : k + step], b[k : k + step]) for k in range(0, len(a), step)]
    counts = np.concatenate(parts, axis=1) if parts else np.zeros((4, 0), dtype=np.int64)
    untied_x, untied_y, concordant, discordant = counts
    n = (~gap).sum(axis=1)  # a gap compares as False, so no pair with it was counted
    pairs = n * (n - 1) // 2
    both = pairs - untied_x - untied_y + concordant + discordant
    tau = ratio(concordant - discordant, np.sqrt(untied_x * untied_y))
    tied_x, tied_y = pairs - untied_x - both, pairs - untied_y - both
    return KendallRows(np.clip(tau, -1, 1), n, tied_x, tied_y, both, concordant, discordant)


def tau_b(balance: int, untied_x: int, untied_y: int) -> float | None:
    """Tau-b from concordant - discordant and the pairs untied on each side; None if one side has none."""
    if not untied_x or not untied_y:
        return None
    # The root may be an ulp too small for orders that agree in full.
    return max(-1.0, min(1.0, balance / sqrt(untied_x * untied_y)))


def dense_ranks(values: Floats) -> Counts:
    """Rank 0, 1, 2, ... of each value among the distinct rounded ones, same length."""
    return np.unique(comparable(values), return_inverse=True)[1].astype(np.int64)


def _tied(codes: Counts) -> int:
    sizes = np.unique(codes, return_counts=True)[1].astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(ranks: Counts) -> int:
    """Pairs that stand in the wrong order, counted one bit of the rank at a time.

    Two ranks differ first in one bit. Within a group that agrees on all higher bits, each 0 is in
    the wrong order with every 1 before it; then the group is split by that bit, order kept.
    """
    total = 0
    top = int(ranks.max(initial=0)).bit_length()
    for shift in reversed(range(top)):
        group = ranks >> (shift + 1)
        bit = (ranks >> shift) & 1
        before = np.cumsum(bit) - bit
        before -= before[np.searchsorted(group, group)]
        total += int(before[bit == 0].sum())
        ranks = ranks[np.argsort(ranks >> shift, kind="stable")]
    return total


def _row_counts(a: Floats, b: Floats) -> NDArray[np.int64]:
    """Untied in x, untied in y, concordant, discordant pairs of each row, 4 x K. nan compares as False."""
    x_above = _packed(a[:, :, np.newaxis] > a[:, np.newaxis, :])
    y_above = _packed(b[:, :, np.newaxis] > b[:, np.newaxis, :])
    y_below = _packed(b[:, :, np.newaxis] < b[:, np.newaxis, :])
    parts = (x_above, y_above, x_above & y_above, x_above & y_below)
    return np.stack([np.bitwise_count(part).sum(axis=1, dtype=np.int64) for part in parts])


def _packed(compared: Booleans) -> NDArray[np.uint8]:
    """Comparisons K x R x R as bits, a row for each of K: counting bits is several times as fast as counting bytes."""
    return np.packbits(compared.reshape(len(compared), -1), axis=1)
