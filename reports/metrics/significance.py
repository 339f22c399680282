"""Differences between runs: paired randomisation tests over topics, corrected for their number."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from reports.metrics.arrays import Booleans, Counts, Floats, column_means, comparable, ratio

RESAMPLES = 10_000
MOST_RUNS = 50
RESAMPLES_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class PairTests:
    """Tests of every two of R runs, each R x R; nan on the diagonal and where two runs share no scored topic.

    `difference` is the row's mean less the column's over their common topics, of which there are `topics`. `p` is
    two-sided; `adjusted` is `p` after Holm's correction for all pairs. `exact`: every assignment of signs was tried.
    """

    difference: Floats
    topics: Counts
    p: Floats
    adjusted: Floats
    exact: bool


def paired_tests(values: Floats, *, resamples: int = RESAMPLES) -> PairTests:
    """Test every two runs by randomisation (Fisher; Smucker et al. 2007 for retrieval): T x R scores, nan where none.

    Under the hypothesis that two runs are alike, their scores on a topic could be swapped. If there are at most
    `resamples` ways to do so, all are tried, else that many are drawn. Equal arguments give equal results. Raises
    ValueError for more than `MOST_RUNS` runs or `resamples` below 1.
    """
    runs = values.shape[1]
    if runs > MOST_RUNS or resamples < 1:
        raise ValueError(f"at most {MOST_RUNS} runs are compared, with at least one resample")
    first, second = np.triu_indices(runs, k=1)
    differences = values[:, first] - values[:, second]
    shared = ~np.isnan(differences)
    # 0 on topics that one of two runs lacks: whatever its sign, it changes no sum.
    differences = np.where(shared, differences, 0.0)
    # Ten topics have 1,024 assignments of signs: then nothing is drawn, and p has no error of sampling.
    exact = 2 ** min(len(values), 63) <= resamples
    p = _p_values(differences, _signs(len(values), resamples, exact=exact), exact=exact)
    topics = shared.sum(axis=0)
    p[topics == 0] = np.nan
    return PairTests(
        difference=_square(comparable(ratio(differences.sum(axis=0), topics)), runs, mirrored=-1.0),
        topics=np.nan_to_num(_square(topics.astype(np.float64), runs)).astype(np.int64),
        p=_square(p, runs),
        adjusted=_square(holm(p), runs),
        exact=exact,
    )


def holm(p: Floats) -> Floats:
    """Adjust p values for all being tested at once (Holm 1979), same shape; nan stays nan and is not counted."""
    adjusted = np.full_like(p, np.nan)
    places = np.flatnonzero(~np.isnan(p))
    order = places[np.argsort(p[places], kind="stable")]
    left = np.arange(len(order), 0, -1)
    # The running maximum keeps the order: no p may fall below one that was smaller before.
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(left * p[order]))
    return adjusted


def best_first(values: Floats, most: int = MOST_RUNS) -> Counts:
    """Return the columns of the runs with the highest means, at most so many; runs without a score are left out."""
    means = column_means(values, np.ones(len(values), dtype=np.bool_))
    order = np.argsort(-means, kind="stable")
    return order[~np.isnan(means[order])][:most]


def smallest_p(topics: int, pairs: int) -> float:
    """Return the smallest p that a test of every two runs can give after Holm's correction for so many pairs."""
    # Of all assignments of signs, the observed one and its mirror are always at least as far from 0.
    least = 2 / 2**topics if 2 ** min(topics, 63) <= RESAMPLES else 1 / (RESAMPLES + 1)
    return min(1.0, pairs * least)


def significance_groups(adjusted: Floats, level: float) -> list[frozenset[int]]:
    """Return the largest groups of runs of which no two differ (insert and absorb, Piepho 2004), in the runs' order.

    `adjusted` is R x R; two runs share a group if and only if their p is not below `level`.
    """
    groups = [frozenset(range(len(adjusted)))]
    for first, second in np.argwhere(np.triu(adjusted < level)).tolist():
        split = [group for group in groups if {first, second} <= group]
        parts = [group - {run} for group in split for run in (first, second)]
        kept = {*groups, *parts}.difference(split)
        groups = [group for group in kept if not any(group < other for other in kept)]
    return sorted((group for group in groups if len(group) > 1), key=sorted)


def _signs(topics: int, resamples: int, *, exact: bool) -> Iterator[Floats]:
    """Yield rows of +1 and -1, one for each topic."""
    if exact:
        yield np.array(list(product((1.0, -1.0), repeat=topics)))
        return
    drawn = np.random.default_rng(0)
    for start in range(0, resamples, RESAMPLES_AT_ONCE):
        size = min(RESAMPLES_AT_ONCE, resamples - start)
        yield drawn.integers(0, 2, size=(size, topics)).astype(np.float64) * 2 - 1


def _p_values(differences: Floats, signs: Iterator[Floats], *, exact: bool) -> Floats:
    """Return the share of sums with random signs at least as far from 0 as the sum itself.

    The sums are rounded: equal ones must compare as equal. Of drawn signs the sum itself counts as one more.
    """
    observed = np.abs(comparable(differences.sum(axis=0)))
    hits, tried = np.zeros(differences.shape[1]), 0
    for chunk in signs:
        far: Booleans = np.abs(comparable(chunk @ differences)) >= observed
        hits, tried = hits + far.sum(axis=0), tried + len(chunk)
    # Without the one more, a p of 0 would claim more than the number of draws can show.
    return hits / tried if exact else (hits + 1) / (tried + 1)


def _square(pairs: Floats, runs: int, *, mirrored: float = 1.0) -> Floats:
    """Return the values of all pairs as a matrix, with nan on the diagonal."""
    matrix = np.full((runs, runs), np.nan)
    first, second = np.triu_indices(runs, k=1)
    matrix[first, second], matrix[second, first] = pairs, mirrored * pairs
    return matrix
