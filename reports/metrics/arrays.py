"""Array types and the few reductions that every metric shares."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Booleans: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.int8]
Indices: TypeAlias = NDArray[np.int32]
Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

DECIMALS = 10
"""Far above the error of a sum over some hundred topics, far below a difference that a published table shows."""


def comparable(values: Floats) -> Floats:
    """Values rounded to 10 decimals, same shape: means of equal fractions must compare as equal."""
    rounded: Floats = np.round(values, DECIMALS)
    rounded += 0.0  # turns -0.0 into 0.0
    return rounded


def ratio(numerator: Floats | Counts, denominator: Floats | Counts) -> Floats:
    """Element-wise quotient, nan where the denominator is 0, without a warning. Shapes broadcast."""
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.asarray(denominator, dtype=np.float64)
    # `where` and not a division by zero: numpy warns of that, and a warning fails a test.
    quotient: Floats = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=quotient, where=np.broadcast_to(bottom != 0, quotient.shape))
    return quotient


def column_means(values: Floats, rows: Booleans) -> Floats:
    """Mean of each column of a T x R matrix over the chosen rows (T), nan cells left out; R, nan if none."""
    cells = values[rows]
    has_value = ~np.isnan(cells)
    return ratio(np.where(has_value, cells, 0.0).sum(axis=0), has_value.sum(axis=0))


def sum_by_run(cells: Booleans | Counts, column_run: Indices) -> Counts:
    """Sum over the columns of each run, ... x C to ... x R; a run's columns lie together, and each run has one."""
    counts: Counts = np.add.reduceat(cells, _starts(column_run), axis=-1, dtype=np.int64)
    return counts


def mean_by_run(values: Floats, column_run: Indices) -> Floats:
    """Mean over the columns of each run, ... x C to ... x R, nan cells left out; nan if none."""
    starts, has_value = _starts(column_run), ~np.isnan(values)
    sums = np.add.reduceat(np.where(has_value, values, 0.0), starts, axis=-1)
    return ratio(sums, sum_by_run(has_value, column_run))


def _starts(column_run: Indices) -> Counts:
    return np.flatnonzero(np.diff(column_run, prepend=-1))


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def defined(value: float) -> float | None:
    """A plain float, or None where the value is undefined (nan)."""
    return None if np.isnan(value) else float(value)
