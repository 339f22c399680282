"""Agreement of two verdicts on the same battles: of people, of a person and an LLM, of an LLM's two orders.

Each battle enters the table from both of its sides, by half: otherwise kappa would depend on which run is named first.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reports.metrics.alpha import nominal_alpha_of_pairs, nominal_alpha_parts
from reports.metrics.arrays import Bytes, Counts, Floats, Indices
from reports.metrics.confusion import FIGURES as LABEL_FIGURES
from reports.metrics.confusion import harsh_conflicts, topic_tables
from reports.metrics.jackknife import Jackknife, LabelFigure, jackknife

LOST, TIED, WON = OUTCOMES = (0, 1, 2)
"""Of the first run: fewer than half of the points, half of them, more."""


def _alpha(counts: Counts | Floats) -> Floats:
    return nominal_alpha_of_pairs(counts.sum(axis=-3))


FIGURES: Final = {
    **{name: LABEL_FIGURES[name] for name in ("agreement", "kappa", "kappa_linear")},
    # Nominal: two opposite winners are one disagreement, as a winner and a tie are.
    "alpha": LabelFigure(_alpha, lambda tables: nominal_alpha_parts(tables.sum(axis=1))),
}


@dataclass(frozen=True, slots=True)
class VerdictAgreement:
    """Figures of pairs of verdicts by name, and how many of the pairs have `opposite` winners."""

    pairs: int
    opposite: int
    figures: dict[str, Jackknife]


def outcomes(points: Floats) -> Bytes:
    compared: Bytes = (1 + np.sign(points - 0.5)).astype(np.int8)
    return compared


def verdict_agreement(first: Bytes, second: Bytes, topics: Indices) -> VerdictAgreement:
    """Compare two outcomes of each battle, N and N; `topics`: the place of its topic, at least 0."""
    tables = topic_tables(first, second, topics, len(OUTCOMES))
    from_both_sides = (tables + tables[:, ::-1, ::-1])[:, np.newaxis] / 2
    return VerdictAgreement(
        pairs=len(first),
        opposite=int(harsh_conflicts(first, second, len(OUTCOMES)).sum()),
        figures={name: jackknife(from_both_sides, figure) for name, figure in FIGURES.items()},
    )
