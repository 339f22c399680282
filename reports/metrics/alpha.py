"""Krippendorff's alpha for ordinal labels and any number of judges, gaps allowed, and agreement beside it.

Krippendorff 2011, "Computing Krippendorff's alpha-reliability": alpha = 1 - observed / expected
disagreement over the coincidences of values within units. Several judges are compared on the units that at least two
of them labelled (docs/metrics.md#confusion-kappa-alpha-strictness).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.metrics.arrays import Bytes, Counts, Floats, Indices, defined, ratio
from reports.metrics.intervals import Interval
from reports.metrics.jackknife import Disagreement, LabelFigure, jackknife


def alpha_ordinal(labels: NDArray[np.integer]) -> float | None:
    """Alpha, at most 1, of a judges x units matrix of labels 0, 1, 2, ...; a negative cell is a gap.

    Only units with at least two labels count. None where no disagreement is expected: no such unit,
    or a single value in all of them. Raises ValueError unless the matrix has two dimensions.
    """
    if labels.ndim != 2:
        raise ValueError(f"a judges x units matrix expected, found {labels.ndim} dimensions")
    return defined(float(alpha_of(coincidences(labels))))


def alpha_of_pairs(counts: Counts | Floats) -> Floats:
    """Alpha of two judges without gaps, from how often each pair of labels occurs, ... x V x V; nan where undefined."""
    return alpha_of((counts + counts.swapaxes(-1, -2)).astype(np.float64))


def alpha_of(tables: Floats) -> Floats:
    """Alpha of tables of coincidences, ... x V x V; nan where no disagreement is expected."""
    totals = tables.sum(axis=-1)
    distance = _ordinal_distance(totals)
    expected = (totals[..., :, np.newaxis] * totals[..., np.newaxis, :] * distance).sum(axis=(-2, -1))
    # Less 1: chance draws two labels without putting the first one back, which corrects small samples.
    alphas: Floats = 1 - ratio((totals.sum(axis=-1) - 1) * (tables * distance).sum(axis=(-2, -1)), expected)
    return alphas


def alpha_parts(tables: Floats) -> Disagreement:
    """Disagreement from the coincidences of each topic, T x V x V: two of them are a pair."""
    whole = tables.sum(axis=0)
    totals = whole.sum(axis=-1)
    distance = _ordinal_distance(totals)
    distance /= distance.max()
    differing = tables.sum(axis=(1, 2)) - np.trace(tables, axis1=1, axis2=2)
    number = totals.sum()
    return Disagreement(
        pairs=tables.sum(axis=(1, 2)) / 2,
        differing=differing / 2,
        distance=float((whole * distance).sum() / max(differing.sum(), 1)),
        expected=float((np.outer(totals, totals) * distance).sum() / (number * (number - 1))),
        is_graded=True,
    )


def nominal_alpha_of_pairs(counts: Counts | Floats) -> Floats:
    """Alpha of two judges by labels without an order, from how often each pair occurs; nan where undefined."""
    tables = (counts + counts.swapaxes(-1, -2)).astype(np.float64)
    number, expected = tables.sum(axis=(-2, -1)), _differing_by_chance(tables)
    differing = number - np.trace(tables, axis1=-2, axis2=-1)
    alphas: Floats = 1 - ratio((number - 1) * differing, expected)
    return alphas


def nominal_alpha_parts(counts: Floats) -> Disagreement:
    """Disagreement from how often each pair occurs in each topic, T x V x V."""
    tables = counts + counts.swapaxes(-1, -2)
    pairs, number = counts.sum(axis=(1, 2)), float(tables.sum())
    return Disagreement(
        pairs=pairs,
        differing=pairs - np.trace(counts, axis1=1, axis2=2),
        expected=float(_differing_by_chance(tables.sum(axis=0))) / (number * (number - 1)),
    )


def _differing_by_chance(tables: Floats) -> Floats:
    totals = tables.sum(axis=-1)
    differing: Floats = totals.sum(axis=-1) ** 2 - (totals**2).sum(axis=-1)
    return differing


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
    """Squared number of labels between two values, each end by half, ... x V x V (Krippendorff's ordinal metric)."""
    # Ordinal labels have no distances of their own: how many labels lie between two values takes their place.
    middle = np.cumsum(totals, axis=-1) - totals / 2
    distance: Floats = (middle[..., :, np.newaxis] - middle[..., np.newaxis, :]) ** 2
    return distance


@dataclass(frozen=True, slots=True)
class Overlap:
    """Agreement of J judges on the `units` that at least two of them gave a label.

    `pairs` counts pairs of labels of one unit. `alpha` is None without units, and where all labels are equal
    (`unanimous`).
    """

    judges: int
    topics: int
    units: int
    pairs: int
    alpha: float | None
    agreement: float | None
    alpha_interval: Interval
    agreement_interval: Interval

    @property
    def unanimous(self) -> bool:
        # Agreement is then perfect, and alpha says nothing: no disagreement is expected by chance.
        return self.units > 0 and self.alpha is None


def overlap(labels: Bytes, topics: Indices, values: int) -> Overlap:
    """Return the agreement of a J x U matrix of labels below `values`, negative where there is none.

    `topics`: U, any integers.
    """
    shared = (labels >= 0).sum(axis=0) > 1
    labels, topics = labels[:, shared], topics[shared]
    names, place = np.unique(topics, return_inverse=True)
    by_topic = [coincidences(labels[:, place == topic], values) for topic in range(len(names))]
    counts = _value_counts(labels, values)
    totals = counts.sum(axis=0)
    same, pairs = (counts * (counts - 1) // 2).sum(axis=0), totals * (totals - 1) // 2
    sums = np.stack([np.bincount(place, weights=of, minlength=len(names)) for of in (same, pairs)], axis=1)
    alpha = jackknife(np.stack(by_topic or [np.zeros((values, values))]), LabelFigure(alpha_of, alpha_parts))
    agreement = jackknife(sums, LabelFigure(_share, _differing))
    return Overlap(
        judges=int((labels >= 0).any(axis=1).sum()),
        topics=len(names),
        units=labels.shape[1],
        pairs=int(pairs.sum()),
        alpha=alpha.value,
        agreement=agreement.value,
        alpha_interval=alpha.interval,
        agreement_interval=agreement.interval,
    )


def _share(sums: Floats) -> Floats:
    """Equal pairs / pairs, ..., from both of them, ... x 2."""
    return ratio(sums[..., 0], sums[..., 1])


def _differing(sums: Floats) -> Disagreement:
    return Disagreement(pairs=sums[:, 1], differing=sums[:, 1] - sums[:, 0])
