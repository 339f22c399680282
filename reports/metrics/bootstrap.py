"""Intervals over topics for the three levels of agreement: seeded resamples, and t for the mean of the topics' taus.

Topics are the sampling unit. A resample is a row of multiplicities, how often each topic was drawn.
The same rows, drawn without replacement, give tau by the number of topics: Sanderson and Zobel 2005 and others ask how
many topics a collection needs; here the two sides are two conditions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from reports.metrics.agreement import (
    LEVELS,
    RUN_LEVEL,
    TOPIC_AVERAGE,
    Paired,
    ScoreTable,
    pair,
    run_means,
    scored_runs,
)
from reports.metrics.arrays import Booleans, Counts, Floats, comparable, ratio
from reports.metrics.intervals import FEWEST_RUNS, TOO_FEW_RUNS, Interval, mean_interval_on_z, resampled_interval
from reports.metrics.kendall import dense_ranks, kendall_rows
from reports.metrics.policies import TopicChoice

RESAMPLES: Final = 4000
"""Wider percentiles of few topics lie among the outermost thousandth."""
STEPS = 20
"""Points of a curve: more would lie closer than a picture shows."""


def intervals(
    x: ScoreTable,
    y: ScoreTable,
    topics: TopicChoice = "all",
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    levels: Sequence[str] = LEVELS,
) -> dict[str, Interval]:
    """Return the intervals of the taus, keyed by those of LEVELS asked for.

    The run level resamples the topics that its means are over (of either condition under `all`), the pooled level the
    common ones. Equal arguments give equal intervals. Raises ValueError for `resamples` below 1.
    """
    if resamples < 1:
        raise ValueError("resamples must be positive")
    both = pair(x, y)
    by_level: dict[str, Interval] = {}
    for name in levels:
        if name == TOPIC_AVERAGE:
            taus = kendall_rows(both.x[both.common], both.y[both.common]).tau
            by_level[name] = mean_interval_on_z(taus[~np.isnan(taus)])
        elif name == RUN_LEVEL and int(scored_runs(*run_means(both, topics)).sum()) < FEWEST_RUNS:
            by_level[name] = Interval(reason=TOO_FEW_RUNS)
        else:
            masks = both.run_topics(topics)
            rows = masks[0] | masks[1] if name == RUN_LEVEL else both.common
            taus_of = run_level_taus if name == RUN_LEVEL else _pooled
            # The seed anew for each level: the same topics are drawn whichever levels are asked for.
            by_level[name] = resampled_interval(
                partial(taus_of, both, topics, rows), int(rows.sum()), resamples, seed
            )
    return by_level


def run_level_taus(both: Paired, topics: TopicChoice, rows: Booleans, draws: Counts) -> Floats:
    """Tau of the run means of each resample; a run without a mean in one is left out of that one."""
    masks = both.run_topics(topics)
    sides = zip((both.x, both.y), masks, strict=True)
    x, y = (resampled_means(np.where(mask[:, np.newaxis], v, np.nan)[rows], draws) for v, mask in sides)
    return kendall_rows(x, y).tau


def resampled_means(values: Floats, draws: Counts) -> Floats:
    """Mean per run of each resample, B x R, from values T x R."""
    # Rounded: the products add in another order than a mean does, and ties must stay ties.
    has_value = ~np.isnan(values)
    weights = draws.astype(np.float64)  # products of whole numbers take ten times as long
    return comparable(ratio(weights @ np.where(has_value, values, 0.0), weights @ has_value.astype(np.float64)))


def _pooled(both: Paired, _topics: TopicChoice, rows: Booleans, draws: Counts) -> Floats:
    """Tau of all pairs of each resample, exactly, from topic-by-topic sums.

    A topic drawn m times brings each of its pairs m times, and two observations of topics s and t
    meet m_s * m_t times. So the balance of a resample, and its ties, are quadratic forms in m.
    """
    cells = both.scored_on_both()[rows]
    balance, tied_x, tied_y = _topic_by_topic(both.x[rows], both.y[rows], cells)
    n = draws @ cells.sum(axis=1)
    untied = [(n * n - _quadratic(draws, tied)) / 2 for tied in (tied_x, tied_y)]
    tau = ratio(_quadratic(draws, balance) / 2, np.sqrt(untied[0] * untied[1]))
    return np.clip(tau, -1, 1)  # the root may be an ulp too small


def _quadratic(draws: Counts, matrix: Floats) -> Floats:
    """m' A m of each row m; whole numbers below 2 ** 53, so exact."""
    weights = draws.astype(np.float64)
    form: Floats = np.einsum("bt,bt->b", weights @ matrix, weights)
    return form


def _topic_by_topic(x: Floats, y: Floats, cells: Booleans) -> tuple[Floats, Floats, Floats]:
    """Concordant - discordant and ties in x and y between the observations of every two topics, T x T.

    Sums are over ordered pairs, an observation with itself included (it is tied with itself).
    """
    topic = np.nonzero(cells)[0]
    out = np.zeros((3, len(cells), len(cells)))
    if len(topic):
        present, starts = np.unique(topic, return_index=True)
        for row, sums in zip(present, _concordance_with_all(x[cells], y[cells], topic), strict=True):
            out[:, row, present] = np.add.reduceat(sums, starts, axis=1)
    return out[0], out[1], out[2]


def _concordance_with_all(x: Floats, y: Floats, topic: Counts) -> Iterator[Counts]:
    """For each topic in turn: balance, ties in x, ties in y of its observations with each of all n, 3 x n.

    A topic has few distinct values, so where another value falls among them is a small number, and
    the sums are looked up by it: n steps per topic instead of n * R. Running sums and no matrix
    product, because many small products on a busy machine spend their time waiting for threads.
    """
    a, b = dense_ranks(x), dense_ranks(y)
    top_a, top_b = int(a.max()), int(b.max())
    for present in np.unique(topic):
        mine = topic == present
        rows, columns = _places(a[mine], top_a), _places(b[mine], top_b)
        table = np.zeros((rows.max() + 1, columns.max() + 1), dtype=np.int64)
        np.add.at(table, (rows[a[mine]], columns[b[mine]]), 1)
        balance, a_place, b_place = _signed_sums(_signed_sums(table).T).T, rows[a], columns[b]
        yield np.stack([balance[a_place, b_place], table.sum(axis=1)[a_place], table.sum(axis=0)[b_place]])


def _places(ranks: Counts, top: int) -> Counts:
    """Place of every rank 0..top among k distinct ranks: 0..2k, even between them, odd on one of them."""
    distinct, every = np.unique(ranks), np.arange(top + 1)
    return np.searchsorted(distinct, every, "left") + np.searchsorted(distinct, every, "right")


def _signed_sums(table: Counts) -> Counts:
    """Sum of the rows above each row less the sum of the rows below it, same shape."""
    upto: Counts = np.cumsum(table, axis=0)
    signed: Counts = 2 * upto - table - upto[-1]
    return signed


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Run-level tau over `topics` topics: mean and central 95 % of the `samples` subsets in which it is defined."""

    topics: int
    mean: float
    low: float
    high: float
    samples: int


def tau_by_topics(
    x: ScoreTable, y: ScoreTable, topics: TopicChoice = "all", *, samples: int = 100, seed: int = 0
) -> tuple[CurvePoint, ...]:
    """Return the run-level tau for up to `STEPS` numbers of topics, from 2 to all that the run means are over.

    Subsets are drawn without replacement. A number of topics at which no subset has a defined tau is left out. Equal
    arguments give equal points. Raises ValueError for `samples` below 1.
    """
    if samples < 1:
        raise ValueError("samples must be positive")
    both = pair(x, y)
    x_topics, y_topics = both.run_topics(topics)
    used = x_topics | y_topics
    every = int(used.sum())
    points = []
    for size in curve_sizes(every):
        # There is only one subset with all topics: its tau is that of the page.
        draws = subsets(every, size, 1 if size == every else samples, seed)
        taus = run_level_taus(both, topics, used, draws)
        values = taus[~np.isnan(taus)]
        if values.size:
            low, high = np.quantile(values, [0.025, 0.975])
            points.append(CurvePoint(size, float(values.mean()), float(low), float(high), len(values)))
    return tuple(points)


def curve_sizes(every: int) -> list[int]:
    """Return at most `STEPS` numbers of topics, evenly from 2 to all; none for fewer than two topics."""
    if every < 2:
        return []
    sizes: list[int] = np.unique(np.linspace(2, every, min(STEPS, every - 1)).round().astype(np.int64)).tolist()
    return sizes


def subsets(every: int, size: int, samples: int, seed: int) -> Counts:
    """Return random subsets of `size` of all topics as rows of 0 and 1, samples x every."""
    rng = np.random.default_rng([seed, size])  # each size draws its own, whichever others the curve has
    rank = rng.random((samples, every)).argsort(axis=1).argsort(axis=1)
    return (rank < size).astype(np.int64)
