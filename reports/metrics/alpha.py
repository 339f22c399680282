"""Krippendorff's alpha for ordinal labels and any number of judges, gaps allowed.

Krippendorff 2011, "Computing Krippendorff's alpha-reliability": alpha = 1 - observed / expected
disagreement over the coincidences of values within units.
"""

import numpy as np
from numpy.typing import NDArray

from reports.metrics.arrays import Counts, Floats


def alpha_ordinal(labels: NDArray[np.integer]) -> float | None:
    """Alpha, at most 1, of a judges x units matrix of labels 0, 1, 2, ...; a negative cell is a gap.

    Only units with at least two labels count. None where no disagreement is expected: no such unit,
    or a single value in all of them. Raises ValueError unless the matrix has two dimensions.
    """
    if labels.ndim != 2:
        raise ValueError(f"a judges x units matrix expected, found {labels.ndim} dimensions")
    return alpha_of(coincidences(labels))


def alpha_of_pairs(counts: Counts) -> float | None:
    """Alpha of two judges without gaps, from how often each pair of labels occurs (V x V); as `alpha_ordinal`."""
    return alpha_of((counts + counts.T).astype(np.float64))


def alpha_of(table: Floats) -> float | None:
    """Alpha of a table of coincidences, V x V; None where no disagreement is expected."""
    totals = table.sum(axis=1)
    distance = _ordinal_distance(totals)
    expected = (np.outer(totals, totals) * distance).sum()
    if not expected:
        return None
    return float(1 - (totals.sum() - 1) * (table * distance).sum() / expected)


def coincidences(labels: NDArray[np.integer], values: int = 0) -> Floats:
    """Coincidences of a judges x units matrix, V x V; `values` is V where it is not to follow from the labels.

    Those of all units are the sum of those of parts of them.
    """
    return _coincidences(_value_counts(labels, values))


def _value_counts(labels: NDArray[np.integer], values: int = 0) -> Floats:
    """Number of times that each unit got each value, units x values."""
    values = values or int(labels.max(initial=0)) + 1
    return np.stack([(labels == value).sum(axis=0) for value in range(values)], axis=1).astype(np.float64)


def _coincidences(counts: Floats) -> Floats:
    """Ordered pairs of values within units, each unit weighing as many as it has labels, V x V."""
    size = counts.sum(axis=1)
    pairable = counts[size > 1]
    weighted = pairable / (size[size > 1] - 1)[:, np.newaxis]
    table: Floats = weighted.T @ pairable - np.diag(weighted.sum(axis=0))
    return table


def _ordinal_distance(totals: Floats) -> Floats:
    """Squared number of labels between two values, each end by half, V x V."""
    middle = np.cumsum(totals) - totals / 2
    distance: Floats = np.subtract.outer(middle, middle) ** 2
    return distance
