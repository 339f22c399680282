"""Seeded percentile bootstrap over topics for the three levels of agreement (method, section 6).

Topics are the sampling unit. A resample is a row of multiplicities, how often each topic was drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reports.metrics.agreement import ALL_TOPIC_RUN, LEVELS, RUN_LEVEL, TOPIC_AVERAGE, Paired, ScoreTable, pair
from reports.metrics.arrays import Booleans, Counts, Floats, comparable, ratio
from reports.metrics.kendall import dense_ranks, kendall_rows
from reports.metrics.policies import TopicChoice


@dataclass(frozen=True, slots=True)
class Interval:
    """Percentile interval of a tau and the number of resamples in which the tau was defined."""

    low: float
    high: float
    resamples: int

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high


def intervals(
    x: ScoreTable,
    y: ScoreTable,
    topics: TopicChoice = "all",
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    levels: Sequence[str] = LEVELS,
) -> dict[str, Interval | None]:
    """Bootstrap intervals of the taus, keyed by those of LEVELS asked for; None for fewer than two topics or no tau.

    The run level resamples the topics that its means are over (of either condition under `all`), the
    other two the common ones. Equal arguments give equal intervals. Raises ValueError for
    `confidence` outside (0, 1) or `resamples` below 1.
    """
    _check(resamples, confidence)
    both = pair(x, y)
    taus_at = {RUN_LEVEL: run_level_taus, TOPIC_AVERAGE: _topic_average, ALL_TOPIC_RUN: _pooled}
    used = both.run_topics(topics)[0] | both.run_topics(topics)[1]
    rows = {RUN_LEVEL: used, TOPIC_AVERAGE: both.common, ALL_TOPIC_RUN: both.common}
    found: dict[str, Interval | None] = {}
    for name in levels:
        size = int(rows[name].sum())
        # The seed anew for each level: the same topics are drawn whichever levels are asked for.
        draws = draws_of(size, resamples, seed) if size > 1 else np.zeros((0, size), dtype=np.int64)
        found[name] = interval_of(taus_at[name](both, topics, rows[name], draws), confidence)
    return found


def mean_intervals(
    values: Floats, *, resamples: int = 1000, confidence: float = 0.95, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return the low and high ends of the percentile intervals of each run's mean, R each, from scores T x R.

    nan where a run has fewer than two scored topics. Equal arguments give equal intervals. Raises ValueError as
    `intervals` does.
    """
    _check(resamples, confidence)
    few = (~np.isnan(values)).sum(axis=0) < 2
    if few.all():
        return np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
    means = _resampled_means(values, draws_of(len(values), resamples, seed))
    means[:, few] = 0.0  # overwritten below; nanquantile warns of a column without a number
    tail = (1 - confidence) / 2
    low, high = np.nanquantile(means, [tail, 1 - tail], axis=0)
    return np.where(few, np.nan, low), np.where(few, np.nan, high)


def _check(resamples: int, confidence: float) -> None:
    if not 0 < confidence < 1 or resamples < 1:
        raise ValueError("confidence must lie in (0, 1) and resamples be positive")


def draws_of(topics: int, resamples: int, seed: int) -> Counts:
    """Number of times that each topic is drawn, resamples x T."""
    # One multinomial draw a resample equals drawing T topics with replacement, and is ready for products.
    return np.random.default_rng(seed).multinomial(topics, np.full(topics, 1 / topics), size=resamples)


def interval_of(taus: Floats, confidence: float) -> Interval | None:
    # A resample may draw only topics on which a side is constant. The interval says how many are left.
    known = taus[~np.isnan(taus)]
    if not known.size:
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high), len(known))


def run_level_taus(both: Paired, topics: TopicChoice, rows: Booleans, draws: Counts) -> Floats:
    """Tau of the run means of each resample; a run without a mean in one is left out of that one."""
    masks = both.run_topics(topics)
    sides = zip((both.x, both.y), masks, strict=True)
    x, y = (_resampled_means(np.where(mask[:, np.newaxis], v, np.nan)[rows], draws) for v, mask in sides)
    return kendall_rows(x, y).tau


def _resampled_means(values: Floats, draws: Counts) -> Floats:
    """Mean per run of each resample, B x R, from values T x R."""
    # Rounded: the products add in another order than a mean does, and ties must stay ties.
    known = ~np.isnan(values)
    return comparable(ratio(draws @ np.where(known, values, 0.0), draws @ known.astype(np.int64)))


def _topic_average(both: Paired, _topics: TopicChoice, rows: Booleans, draws: Counts) -> Floats:
    """Mean of the topics' taus in each resample: a topic's own tau does not change."""
    taus = kendall_rows(both.x[rows], both.y[rows]).tau
    known = ~np.isnan(taus)
    return ratio(draws @ np.where(known, taus, 0.0), draws @ known.astype(np.int64))


def _pooled(both: Paired, _topics: TopicChoice, rows: Booleans, draws: Counts) -> Floats:
    """Tau of all pairs of each resample, exactly, from topic-by-topic sums.

    A topic drawn m times brings each of its pairs m times, and two observations of topics s and t
    meet m_s * m_t times. So the balance of a resample, and its ties, are quadratic forms in m.
    """
    if not len(draws):
        return np.zeros(0)
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
