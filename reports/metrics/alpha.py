"""Krippendorff's alpha for ordinal labels and any number of judges, gaps allowed, and agreement beside it.

Krippendorff 2011, "Computing Krippendorff's alpha-reliability": alpha = 1 - observed / expected
disagreement over the coincidences of values within units. Several judges are compared on the units that at least two
of them labelled (method, section 6); intervals are percentiles of a seeded bootstrap over topics.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.metrics.arrays import Bytes, Counts, Floats, Indices
from reports.metrics.bootstrap import Interval, draws_of, interval_of
from reports.metrics.label_matrix import LABELS


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
    # Less 1: chance draws two labels without putting the first one back, which corrects small samples.
    return float(1 - (totals.sum() - 1) * (table * distance).sum() / expected)


def coincidences(labels: NDArray[np.integer], values: int = 0) -> Floats:
    """Coincidences of a judges x units matrix, V x V; `values` is V where it is not to follow from the labels.

    Those of all units are the sum of those of parts of them.
    """
    counts = _value_counts(labels, values or int(labels.max(initial=0)) + 1).T.astype(np.float64)
    size = counts.sum(axis=1)
    pairable = counts[size > 1]  # a label alone in its unit has nothing to agree with
    # A label meets each of the other m - 1: a unit weighs as many as it has labels, not as it has pairs.
    weighted = pairable / (size[size > 1] - 1)[:, np.newaxis]
    table: Floats = weighted.T @ pairable - np.diag(weighted.sum(axis=0))  # no label meets itself
    return table


def _value_counts(labels: NDArray[np.integer], values: int) -> Counts:
    """Number of times that each unit got each value, values x units."""
    return np.stack([(labels == value).sum(axis=0) for value in range(values)])


def _ordinal_distance(totals: Floats) -> Floats:
    """Squared number of labels between two values, each end by half, V x V (Krippendorff's ordinal metric)."""
    # Ordinal labels have no distances of their own: how many labels lie between two values takes their place.
    middle = np.cumsum(totals) - totals / 2
    distance: Floats = np.subtract.outer(middle, middle) ** 2
    return distance


@dataclass(frozen=True, slots=True)
class Overlap:
    """Agreement of J judges on the `units` that at least two of them gave one of the three labels.

    `pairs` counts pairs of labels of one unit. `alpha` is None without units, and where all labels are equal
    (`unanimous`). Intervals are None for fewer than two topics, and where no resample has a figure.
    """

    judges: int
    topics: int
    units: int
    pairs: int
    alpha: float | None
    agreement: float | None
    alpha_interval: Interval | None
    agreement_interval: Interval | None

    @property
    def unanimous(self) -> bool:
        # Agreement is then perfect, and alpha says nothing: no disagreement is expected by chance.
        return self.units > 0 and self.alpha is None


def overlap(
    labels: Bytes, topics: Indices, *, resamples: int = 1000, confidence: float = 0.95, seed: int = 0
) -> Overlap:
    """Return the agreement of a J x U matrix of labels, negative where there is none; `topics` U, any integers.

    Raises ValueError as `bootstrap.intervals` does.
    """
    shared = (labels >= 0).sum(axis=0) > 1
    labels, topics = labels[:, shared], topics[shared]
    names, place = np.unique(topics, return_inverse=True)
    by_topic = [coincidences(labels[:, place == topic], LABELS) for topic in range(len(names))]
    tables = np.stack(by_topic or [np.zeros((LABELS, LABELS))])
    same, pairs = _pairs(labels)
    same_by_topic, pairs_by_topic = (np.bincount(place, weights=of, minlength=len(names)) for of in (same, pairs))
    # Topics are drawn and not units: labels of one topic are alike, and units would pretend to be independent.
    draws = (
        draws_of(len(names), resamples, seed) if len(names) > 1 else np.zeros((0, max(len(names), 1)), np.int64)
    )
    total = int(pairs.sum())
    return Overlap(
        judges=int((labels >= 0).any(axis=1).sum()),
        topics=len(names),
        units=labels.shape[1],
        pairs=total,
        alpha=alpha_of(tables.sum(axis=0)),
        agreement=float(same.sum() / total) if total else None,
        alpha_interval=interval_of(_alphas(tables, draws), confidence),
        agreement_interval=interval_of(_shares(same_by_topic, pairs_by_topic, draws), confidence),
    )


def _pairs(labels: Bytes) -> tuple[Counts, Counts]:
    """Return the number of equal pairs of labels of each unit, and of all its pairs, U and U."""
    counts = _value_counts(labels, LABELS)
    number = counts.sum(axis=0)
    return (counts * (counts - 1) // 2).sum(axis=0), number * (number - 1) // 2


def _alphas(tables: Floats, draws: Counts) -> Floats:
    """Alpha of each resample, B, nan where undefined: coincidences of topics add up."""
    resampled = np.einsum("bt,tvw->bvw", draws.astype(np.float64), tables)
    alphas = [alpha_of(table) for table in resampled]
    return np.array([np.nan if alpha is None else alpha for alpha in alphas])


def _shares(same: Floats | Counts, pairs: Floats | Counts, draws: Counts) -> Floats:
    """Agreement of each resample, B: every topic has pairs."""
    if not len(draws):
        return np.zeros(0)
    shares: Floats = (draws @ same) / (draws @ pairs)
    return shares
