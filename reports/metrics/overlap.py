"""Agreement of several judges on the items that at least two of them labelled (method, section 6).

Alpha is Krippendorff's for three ordinal labels, agreement the share of equal labels among all pairs of judges of one
item. Intervals are percentiles of a seeded bootstrap over topics.
"""

from dataclasses import dataclass

import numpy as np

from reports.metrics.alpha import alpha_of, coincidences
from reports.metrics.arrays import Bytes, Counts, Floats, Indices
from reports.metrics.bootstrap import Interval, draws_of, interval_of
from reports.metrics.confusion import LABELS


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
        """Say whether alpha is undefined because all labels are equal."""
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
    tables = np.stack([coincidences(labels[:, place == one], LABELS) for one in range(len(names))] or [_nothing()])
    same, pairs = _pairs(labels)
    same_by_topic, pairs_by_topic = (np.bincount(place, weights=of, minlength=len(names)) for of in (same, pairs))
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


def _nothing() -> Floats:
    return np.zeros((LABELS, LABELS))


def _pairs(labels: Bytes) -> tuple[Counts, Counts]:
    """Return the number of equal pairs of labels of each unit, and of all its pairs, U and U."""
    counts = np.stack([(labels == value).sum(axis=0) for value in range(LABELS)])
    number = counts.sum(axis=0)
    return (counts * (counts - 1) // 2).sum(axis=0), number * (number - 1) // 2


def _alphas(tables: Floats, draws: Counts) -> Floats:
    """Alpha of each resample, B, nan where undefined: coincidences of topics add up."""
    resampled = np.einsum("bt,tvw->bvw", draws.astype(np.float64), tables)
    found = [alpha_of(one) for one in resampled]
    return np.array([np.nan if one is None else one for one in found])


def _shares(same: Floats | Counts, pairs: Floats | Counts, draws: Counts) -> Floats:
    """Agreement of each resample, B: every topic has pairs."""
    if not len(draws):
        return np.zeros(0)
    shares: Floats = (draws @ same) / (draws @ pairs)
    return shares
