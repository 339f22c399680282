"""Confusion of two judges: counts, agreement, kappa, strictness (docs/metrics.md#confusion-kappa-alpha-strictness).

Rows and columns are labels in the order of their scale, from the lowest, of whichever set, or grades of relevance.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from reports.metrics.alpha import alpha_of_pairs, alpha_parts
from reports.metrics.arrays import Booleans, Bytes, Counts, Floats, Indices, defined, ratio, share
from reports.metrics.intervals import Interval
from reports.metrics.jackknife import Disagreement, LabelFigure, jackknife


@dataclass(frozen=True, slots=True)
class Confusion:
    """Pairs of labels: `counts` K x K (row judge by column judge), n `pairs`, `left_out` pairs without two labels.

    `agreement` and the rates are fractions; `kappa`, `kappa_linear`, `kappa_quadratic` (Cohen 1960, 1968) and `alpha`
    (Krippendorff, ordinal) lie in [-1, 1]; `strictness` = mean(row - column) in [1 - K, K - 1], negative where the row
    judge is the stricter one. None where undefined: no pairs, or no expected disagreement.
    """

    counts: Counts
    pairs: int
    left_out: int
    agreement: float | None
    kappa: float | None
    kappa_linear: float | None
    kappa_quadratic: float | None
    alpha: float | None
    strictness: float | None
    row_rates: tuple[float | None, ...]
    column_rates: tuple[float | None, ...]


def confusion(rows: Bytes, columns: Bytes, labels: int) -> Confusion:
    """Compare two vectors of `labels` ordinal labels, item by item; items with a negative label are left out.

    Raises ValueError for unequal shapes or labels from `labels` up.
    """
    if rows.shape != columns.shape:
        raise ValueError(f"labels of the same items expected, found {rows.shape} and {columns.shape}")
    # A pair that one side left without a label is no disagreement: it is counted as left out.
    both = (rows >= 0) & (columns >= 0)
    a, b = rows[both].astype(np.int64), columns[both].astype(np.int64)
    if max(a.max(initial=0), b.max(initial=0)) >= labels:
        raise ValueError(f"labels must be below {labels}")
    counts = np.bincount(a * labels + b, minlength=labels * labels).reshape(labels, labels)
    pairs = len(a)
    return Confusion(
        counts=counts,
        pairs=pairs,
        left_out=rows.size - pairs,
        agreement=share(int(np.trace(counts)), pairs),
        kappa=kappa(counts, plain(labels)),
        kappa_linear=kappa(counts, linear(labels)),
        kappa_quadratic=kappa(counts, linear(labels) ** 2),
        alpha=defined(float(alpha_of_pairs(counts))),
        # The sign is kept and never assumed: LLMs are stricter than people with nuggets, milder with citations.
        strictness=share(int((a - b).sum()), pairs),
        row_rates=tuple(share(int(n), pairs) for n in counts.sum(axis=1)),
        column_rates=tuple(share(int(n), pairs) for n in counts.sum(axis=0)),
    )


def linear(labels: int) -> Floats:
    """Distance of two labels on the ordinal scale, K x K."""
    return np.abs(np.subtract.outer(np.arange(labels), np.arange(labels))).astype(np.float64)


def plain(labels: int) -> Floats:
    """1 where two labels differ, K x K."""
    return (linear(labels) > 0).astype(np.float64)


def kappa(counts: Counts, weights: Floats) -> float | None:
    """Cohen's kappa, 1 - observed / expected disagreement, of a K x K table under K x K weights.

    `plain` and `linear` give the usual weights. None where no disagreement is expected.
    """
    pairs = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)).astype(np.float64)
    # Both judges gave one and the same label to everything: then even chance disagrees about nothing.
    chance = float((weights * expected).sum())
    if not chance:
        return None
    return defined(1 - float((weights * counts).sum()) * float(pairs) / chance)


def pooled_kappa(counts: Counts | Floats) -> Floats:
    """Cohen's kappa of ... x P x K x K counts, observed and expected disagreement summed over the P pairs of judges.

    Of two judges it is their kappa (De Vries et al. 2008). nan where no disagreement is expected.
    """
    return _pooled(counts, plain(counts.shape[-1]))


def pooled_kappa_linear(counts: Counts | Floats) -> Floats:
    return _pooled(counts, linear(counts.shape[-1]))


def _pooled(counts: Counts | Floats, weights: Floats) -> Floats:
    kappas: Floats = 1 - ratio((weights * counts).sum(axis=(-3, -2, -1)), _by_chance(counts, weights))
    return kappas


def _by_chance(counts: Counts | Floats, weights: Floats) -> Floats:
    """Disagreement that each pair of judges' own rates let expect, summed over the pairs."""
    pairs = counts.sum(axis=(-2, -1), keepdims=True)
    expected = ratio(counts.sum(axis=-1, keepdims=True) * counts.sum(axis=-2, keepdims=True), np.maximum(pairs, 1))
    chance: Floats = (weights * expected).sum(axis=(-3, -2, -1))
    return chance


def shared_labels(counts: Counts | Floats) -> Floats:
    """Fraction of pairs of equal labels, in [0, 1], of ... x P x K x K counts; nan without pairs."""
    return _mean(counts, weights=np.eye(counts.shape[-1]))


def _strictness(counts: Counts | Floats) -> Floats:
    labels = np.arange(counts.shape[-1], dtype=np.float64)
    return _mean(counts, weights=np.subtract.outer(labels, labels))


def _mean(counts: Counts | Floats, weights: Floats) -> Floats:
    axes = (-3, -2, -1)
    return ratio((counts * weights).sum(axis=axes), counts.sum(axis=axes))


def _alpha(counts: Counts | Floats) -> Floats:
    return alpha_of_pairs(counts.sum(axis=-3))


def _differing(tables: Floats) -> Disagreement:
    """Pairs that differ, of each topic's counts, T x P x K x K."""
    pairs = tables.sum(axis=(1, 2, 3))
    return Disagreement(pairs, pairs - np.trace(tables, axis1=2, axis2=3).sum(axis=1))


def _plain_parts(tables: Floats) -> Disagreement:
    parts, whole = _differing(tables), tables.sum(axis=0)
    return replace(parts, expected=float(_by_chance(whole, plain(whole.shape[-1])) / whole.sum()))


def _linear_parts(tables: Floats) -> Disagreement:
    parts, whole = _differing(tables), tables.sum(axis=0)
    weights = linear(whole.shape[-1])
    weights /= weights.max()
    return replace(
        parts,
        distance=float((whole * weights).sum() / max(parts.differing.sum(), 1)),
        expected=float(_by_chance(whole, weights) / whole.sum()),
        is_graded=True,
    )


def _alpha_parts(tables: Floats) -> Disagreement:
    counts = tables.sum(axis=1)
    return alpha_parts(counts + counts.swapaxes(-1, -2))


STRICTNESS: Final = "ordinal_strictness"
KAPPA: Final = LabelFigure(pooled_kappa, _plain_parts)
FIGURES: Final = {
    "agreement": LabelFigure(shared_labels, _differing),
    "kappa": KAPPA,
    "kappa_linear": LabelFigure(pooled_kappa_linear, _linear_parts),
    "alpha": LabelFigure(_alpha, _alpha_parts),
    STRICTNESS: LabelFigure(_strictness, _differing, has_z=False),
}
"""Figures of two judges' labels that have intervals, by their names in documents."""


def label_intervals(tables: Counts) -> dict[str, Interval]:
    """Return the interval of each of `FIGURES` from the tables of topics, T x K x K."""
    pairs = tables[:, np.newaxis]
    return {name: jackknife(pairs, figure).interval for name, figure in FIGURES.items()}


def topic_tables(rows: Bytes, columns: Bytes, topics: Indices, labels: int) -> Counts:
    """Count two judges' labels of the same items topic by topic, T x K x K; items with a negative label are left out.

    `topics`: the place of each item's topic, at least 0.
    """
    both = (rows >= 0) & (columns >= 0)
    cells = (topics[both].astype(np.int64) * labels + rows[both]) * labels + columns[both]
    size = labels * labels
    counts = np.bincount(cells)
    return np.pad(counts, (0, -len(counts) % size)).reshape(-1, labels, labels)


def harsh_conflicts(rows: Bytes, columns: Bytes, labels: int) -> Booleans:
    """Mask of pairs of the highest of `labels` labels and the lowest, same shape: the pairs worth reading."""
    top = labels - 1
    harsh: Booleans = ((rows == 0) & (columns == top)) | ((rows == top) & (columns == 0))
    return harsh
