"""Intervals over topics for the three levels of agreement: seeded resamples, and t for the mean of the topics' taus.

Topics are the sampling unit. A resample is a row of multiplicities, how often each topic was drawn.
"""

from collections.abc import Iterator, Sequence
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
from reports.metrics.intervals import (
    FEWEST_RUNS,
    TOO_FEW_RUNS,
    Interval,
    mean_interval_on_z,
    resampled_interval,
)
from reports.metrics.kendall import dense_ranks, kendall_rows
from reports.metrics.policies import TopicChoice

RESAMPLES: Final = 4000
"""Wider percentiles of few topics lie among the outermost thousandth."""


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
    found: dict[str, Interval] = {}
    for name in levels:
        if name == TOPIC_AVERAGE:
            taus = kendall_rows(both.x[both.common], both.y[both.common]).tau
            found[name] = mean_interval_on_z(taus[~np.isnan(taus)])
        elif name == RUN_LEVEL and int(scored_runs(*run_means(both, topics)).sum()) < FEWEST_RUNS:
            found[name] = Interval(reason=TOO_FEW_RUNS)
        else:
            masks = both.run_topics(topics)
            rows = masks[0] | masks[1] if name == RUN_LEVEL else both.common
            taus_of = run_level_taus if name == RUN_LEVEL else _pooled
            # The seed anew for each level: the same topics are drawn whichever levels are asked for.
            found[name] = resampled_interval(
                partial(taus_of, both, topics, rows), int(rows.sum()), resamples, seed
            )
    return found


def run_level_taus(both: Paired, topics: TopicChoice, rows: Booleans, draws: Counts) -> Floats:
    """Tau of the run means of each resample; a run without a mean in one is left out of that one."""
    masks = both.run_topics(topics)
    sides = zip((both.x, both.y), masks, strict=True)
    x, y = (_resampled_means(np.where(mask[:, np.newaxis], v, np.nan)[rows], draws) for v, mask in sides)
    return kendall_rows(x, y).tau


def _resampled_means(values: Floats, draws: Counts) -> Floats:
    """Mean per run of each resample, B x R, from values T x R."""
    # Rounded: the products add in another order than a mean does, and ties must stay ties.
    known, weights = (
        ~np.isnan(values),
        draws.astype(np.float64),
    )  # products of whole numbers take ten times as long
    return comparable(ratio(weights @ np.where(known, values, 0.0), weights @ known.astype(np.float64)))


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
        for row, sums in zip(present, _one_against_all(x[cells], y[cells], topic), strict=True):
            out[:, row, present] = np.add.reduceat(sums, starts, axis=1)
    return out[0], out[1], out[2]


def _one_against_all(x: Floats, y: Floats, topic: Counts) -> Iterator[Counts]:
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
