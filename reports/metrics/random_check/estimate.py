"""Corrected scores: pairs that people judged at their value, all others at the rate of their stratum.

The rates of a stratum are a Dirichlet posterior with prior 1/2 over the labels of its drawn pairs, each weighing as
much as it stands for; the interval is in closed form (docs/metrics.md, "Random checks"). Symbols as in `draw`, and
T topics, v the values of the three labels in a score, w the weight of a pair in it: a run's score is sum of w · v.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reports.metrics.arrays import Booleans, Counts, Floats, ratio
from reports.metrics.intervals import FEWEST_TOPICS, student
from reports.metrics.kendall import kendall_rows
from reports.metrics.random_check.draw import KNOWN, Chances, RandomCheckFrame

NORMAL: Final = 1.959964
PRIOR: Final = 0.5
FEWEST_JUDGED: Final = 20
FEWEST_IN_STRATUM: Final = 3
SMALL_STRATUM: Final = 0.05
"""Of a run's weight: a stratum of which less is unknown needs no number of judged pairs."""

TAU_DRAWS: Final = 2000

STEP: Final = 10
SURE: Final = 3.0
"""Standard deviations: 1.96 for the interval to leave out 0, and 1.04 for it to do so with power .85."""


@dataclass(frozen=True, slots=True)
class RandomCheckSample:
    """A random check's pairs with their labels by people.

    `chances` P, inclusion probability, 0 where a pair is not drawn; `shares` P x K, the fraction of people who gave
    each label, zeros where nobody judged it or whoever did refused; `topic` P, index of T.
    """

    frame: RandomCheckFrame
    chances: Floats
    shares: Floats
    topic: Counts

    @property
    def judged(self) -> Booleans:
        judged: Booleans = np.any(self.shares > 0, axis=1)
        return judged


@dataclass(frozen=True, slots=True)
class RunEstimates:
    """Scores of R runs with their variances over what is unknown; all in units of the score.

    `least` and `most` are what the score is if no unknown pair is supported, or each that counts for the answer, and
    the other way round where pairs count against it. `rate` and `spread` are H: the
    mean and the variance of a pair's value in each stratum. `enough` R: no stratum rests on too few pairs.
    """

    value: Floats
    variance: Floats
    least: Floats
    most: Floats
    rate: Floats
    spread: Floats
    enough: Booleans

    @property
    def sd(self) -> Floats:
        return np.sqrt(self.variance)

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Ends of the 95 % interval for these topics, each R."""
        half = NORMAL * self.sd
        return np.maximum(self.value - half, self.least), np.minimum(self.value + half, self.most)


def sums(places: Counts, amounts: Floats, size: int) -> Floats:
    """Sum of the amounts at each place; in their order, so that equal samples have equal digits."""
    return np.bincount(places, amounts, minlength=size).astype(np.float64)


def estimates(sample: RandomCheckSample, weights: Floats, values: Floats) -> RunEstimates:
    """Score every run; `weights` P, `values` of the labels, K."""
    frame, judged = sample.frame, sample.judged
    strata, runs = len(frame.stratum_run), frame.runs

    def by_stratum(amounts: Floats) -> Floats:
        return sums(frame.stratum, amounts, strata)

    def by_run(amounts: Floats) -> Floats:
        return sums(frame.stratum_run, amounts, runs)

    judged_part = by_stratum(weights * (sample.shares @ values))
    rest = np.where(judged, 0.0, weights)
    unknown, squares = by_stratum(rest), by_stratum(rest**2)
    # A judged pair speaks for the pairs like it that were not drawn: as many as (1 - pi) / pi.
    represented = weights * ratio(1 - sample.chances, np.where(judged, sample.chances, 0.0))
    represented[~judged] = 0.0
    total, total_squares = by_stratum(represented), by_stratum(represented**2)
    effective = np.nan_to_num(ratio(total**2, total_squares))
    by_label = np.stack([by_stratum(represented * share) for share in sample.shares.T], axis=1)
    alpha = PRIOR + effective[:, np.newaxis] * np.nan_to_num(ratio(by_label, total[:, np.newaxis]))
    amount = alpha.sum(axis=1)
    rate = alpha @ values / amount
    spread = alpha @ values**2 / amount - rate**2
    variance = spread * ((unknown**2 - squares) / (amount + 1) + squares)
    heavy = np.bincount(frame.stratum, judged & (weights != 0), minlength=strata)
    whole = by_run(by_stratum(np.abs(weights)))
    thin = (heavy < FEWEST_IN_STRATUM) & (np.abs(unknown) > SMALL_STRATUM * whole[frame.stratum_run])
    judged_score = by_run(judged_part)
    return RunEstimates(
        value=by_run(judged_part + unknown * rate),
        variance=by_run(variance),
        least=judged_score + by_run(np.minimum(unknown, 0)),
        most=judged_score + by_run(np.maximum(unknown, 0)),
        rate=rate,
        spread=spread,
        enough=by_run(thin.astype(np.float64)) == 0,
    )


@dataclass(frozen=True, slots=True)
class TopicEstimates:
    """Scores as those of a sample of topics.

    `means` R x T, what each topic gives, nan where it is not in the run's mean; `variance` R; `inner` R, the part of
    a topic's variance that its unknown pairs add.
    """

    means: Floats
    variance: Floats
    inner: Floats
    run_estimates: RunEstimates

    @property
    def half_width(self) -> Floats:
        """Half of each run's 95 % interval, R; nan for too few topics."""
        return _t_half(self.variance, (~np.isnan(self.means)).sum(axis=1))

    def difference(self, a: int, b: int) -> float:
        """Half of the 95 % interval of the difference of two runs, over the topics of both; nan for too few."""
        gaps = self.means[a] - self.means[b]
        gaps = gaps[~np.isnan(gaps)]
        if len(gaps) < FEWEST_TOPICS:
            return float("nan")
        inner = (self.inner[a] + self.inner[b]) / len(gaps)
        variance = (
            gaps.var(ddof=1) / len(gaps) + inner + self.run_estimates.variance[a] + self.run_estimates.variance[b]
        )
        return float(_t_half(np.array([variance]), np.array([len(gaps)]))[0])


def topic_estimates(
    sample: RandomCheckSample, run_estimates: RunEstimates, weights: Floats, values: Floats, counted: Booleans
) -> TopicEstimates:
    """Spread the scores over topics; `counted` R x T, the topics of each run's mean."""
    frame, judged = sample.frame, sample.judged
    topics = counted.sum(axis=1)
    known_rate = np.where(judged, sample.shares @ values, run_estimates.rate[frame.stratum])
    cell = frame.run * counted.shape[1] + sample.topic
    by_topic = sums(cell, weights * known_rate, counted.size).reshape(counted.shape)
    means = np.where(counted, by_topic * topics[:, np.newaxis], np.nan)
    spread = np.where(judged, 0.0, weights**2 * run_estimates.spread[frame.stratum])
    inner = topics * sums(frame.run, spread, frame.runs)
    middle = ratio(np.nansum(means, axis=1), topics)[:, np.newaxis]
    between = ratio(np.nansum((means - middle) ** 2, axis=1), np.maximum(topics - 1, 0))
    variance = ratio(between + inner, topics) + run_estimates.variance
    return TopicEstimates(means, variance, inner, run_estimates)


def _t_half(variance: Floats, topics: Counts) -> Floats:
    factors = [student(int(n) - 1) if n >= FEWEST_TOPICS else np.nan for n in topics]
    return np.array(factors, dtype=np.float64) * np.sqrt(variance)


def people_only(sample: RandomCheckSample, weights: Floats, values: Floats) -> Floats:
    """Score, low and high of each run from its judged pairs alone, 3 x R; nan where undefined."""
    scores = np.full((3, sample.frame.runs), np.nan)
    pair_values = sample.shares @ values
    for run in range(sample.frame.runs):
        mine = sample.frame.run == run
        signs = [np.where(side, weights, 0.0) for side in (weights > 0, weights < 0) if (mine & side).any()]
        sides = [_by_people(sample, side, pair_values, mine) for side in signs]
        if not sides or None in sides:
            continue
        wholes, means, variances, freedoms = np.array(sides, dtype=np.float64).T
        value = float((wholes * means).sum())
        scores[:, run] = value, np.nan, np.nan
        if freedoms.min() >= 1:
            half = student(int(freedoms.min())) * np.sqrt((wholes**2 * variances).sum())
            ends = np.minimum(wholes, 0).sum(), np.maximum(wholes, 0).sum()
            scores[1:, run] = max(value - half, ends[0]), min(value + half, ends[1])
    return scores


def _by_people(
    sample: RandomCheckSample, weights: Floats, values: Floats, pairs: Booleans
) -> tuple[float, float, float, int] | None:
    """Weight of some pairs, and of the judged ones mean value, its variance, degrees of freedom; None for none."""
    part = pairs & sample.judged & (weights != 0)
    if not part.any():
        return None
    pull = weights[part] / sample.chances[part]
    mean = float((pull * values[part]).sum() / pull.sum())
    n, freedom = int(part.sum()), int(pull.sum() ** 2 / (pull**2).sum() + 1e-9) - 1
    inner = ((1 - sample.chances[part]) * (pull * (values[part] - mean)) ** 2).sum() / pull.sum() ** 2
    return float(weights[pairs].sum()), mean, float(n / (n - 1) * inner) if freedom >= 1 else np.nan, freedom


def differ(run_estimates: RunEstimates) -> Booleans:
    """Return R x R, true where the row's run is surely above the column's."""
    gaps = run_estimates.value[:, np.newaxis] - run_estimates.value
    sd = np.sqrt(run_estimates.variance[:, np.newaxis] + run_estimates.variance)
    return gaps > NORMAL * sd


def rank_ranges(above: Booleans) -> Counts:
    """Best and worst rank of each run, 2 x R, from who is surely above whom."""
    return np.stack([1 + above.sum(axis=0), len(above) - above.sum(axis=1)])


def tau_with(reference: Floats, value: Floats, sd: Floats) -> tuple[float, float, float] | None:
    """Tau-b of two rankings of R runs, and its 95 % interval over what is unknown of `value`; None where undefined."""
    if len(value) < 2:
        return None
    noise = np.random.default_rng(0).standard_normal((TAU_DRAWS, len(value)))
    rows = np.concatenate([value[np.newaxis], value + sd * noise])
    taus = kendall_rows(np.broadcast_to(reference, rows.shape), rows).tau
    draws = taus[1:][~np.isnan(taus[1:])]
    if np.isnan(taus[0]) or not len(draws):
        return None
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(taus[0]), float(low), float(high)


def variances_ahead(
    sample: RandomCheckSample, run_estimates: RunEstimates, weights: Floats, run: int, number: int, least: int
) -> Floats:
    """Variance of a run's score at n, n + 10, n + 20, … judged pairs, K, until all are judged: 0.

    Each stratum keeps its present spread; its pairs have the chances of the larger draw.
    """
    frame = sample.frame
    pairs = int(((frame.run == run) & (frame.label != KNOWN)).sum())
    totals = np.arange(number, max(pairs, number) + STEP, STEP)
    variances = np.zeros(len(totals))
    for stratum, numbers in frame.numbers(run, totals, least).items():
        members = frame.members[stratum]
        if run_estimates.spread[stratum]:
            prior = PRIOR * sample.shares.shape[1]
            ahead = _unknown_ahead(Chances(frame.x[members]), weights[members], numbers, prior)
            variances += run_estimates.spread[stratum] * ahead
    return variances


def _unknown_ahead(chances: Chances, weights: Floats, numbers: Counts, prior: float) -> Floats:
    """(U² - Q) / (A + 1) + Q of one stratum for each number m that is drawn, K; A from `prior`.

    Pairs that are certain drop out; of the others every sum is one of powers of w and x from a place on.
    """
    x, w = chances.x[chances.descending], weights[chances.descending]

    def from_place(amounts: Floats) -> Floats:
        sums = np.cumsum(amounts[::-1])[::-1]
        return np.append(sums, 0.0)[place]

    place = chances.certain(numbers)
    c = ratio(np.maximum(numbers - place, 0), np.append(chances.rest, 0.0)[place])
    c = np.nan_to_num(c)
    unknown = from_place(w) - c * from_place(w * x)
    squares = from_place(w**2) - c * from_place(w**2 * x)
    inverse = ratio(from_place(w**2 / x), c)
    squares_ahead = np.nan_to_num(inverse) - 2 * from_place(w**2) + c * from_place(w**2 * x)
    effective = np.where(c > 0, np.nan_to_num(ratio(unknown**2, squares_ahead)), 0.0)
    return np.maximum((unknown**2 - squares) / (prior + effective + 1) + squares, 0.0)


def more_to_separate(
    gap: float, a: Floats, b: Floats, numbers: tuple[int, int], pairs: tuple[int, int]
) -> int | None:
    """Pairs more of each run after which two runs would be apart; None where even all would not do.

    `gap`: the difference now; `a`, `b`: `variances_ahead` of the two; `numbers`, `pairs`: judged now, and in all.
    """
    steps = max(len(a), len(b))
    variance = _extended(a, steps) + _extended(b, steps)
    enough = np.flatnonzero(abs(gap) >= SURE * np.sqrt(variance))
    if abs(gap) < 1e-12 or not len(enough):
        return None
    most = max(pairs[0] - numbers[0], pairs[1] - numbers[1])
    return int(min(max(int(enough[0]), 1) * STEP, most))


def _extended(variances: Floats, steps: int) -> Floats:
    # A run whose pairs are all judged has them judged at every later step.
    return np.append(variances, np.zeros(steps - len(variances)))
