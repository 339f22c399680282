"""Bradley-Terry ratings, ties as half a win, with intervals that cluster by topic (sandwich, t)."""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reports.metrics.arrays import Booleans, Floats, Indices, ratio
from reports.metrics.battles.sheet import BattleSheet
from reports.metrics.intervals import FEWEST_TOPICS, NO_SPREAD, Estimate, Interval, student

SCALE: Final = 400 / log(10)
MIDDLE: Final = 1000.0
CLOSE: Final = 1e-12
MOST_STEPS: Final = 100
SINGULAR: Final = 1e-12
"""Of the largest eigenvalue: what is below is 0 but for rounding, as that of ratings which all rise alike."""
DECIMALS: Final = 9
"""Processors differ in the last bits of a fit, and a file is to be the same on all of them."""
STEEPEST: Final = 30.0
"""Coefficients beyond which a fit with more than ratings has no end."""


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Coefficients K, and their covariance K x K, clustered by `topics` topics; None of a single topic."""

    coefficients: Floats
    covariance: Floats | None
    topics: int

    def interval(self, place: int, *, middle: float = 0.0, scale: float = 1.0) -> Interval:
        """Return the 95 % interval of middle + scale · coefficient."""
        if self.covariance is None:
            return Interval()
        value = middle + scale * float(self.coefficients[place])
        variance = max(0.0, float(self.covariance[place, place]))  # one of 0 may be rounded to less
        reach = scale * student(self.topics - 1) * sqrt(variance)
        # As where all battles tie: topics then say nothing of other topics, and no width would be certainty.
        if round(reach, DECIMALS) == 0:
            return Interval(reason=NO_SPREAD)
        return Interval(round(value - reach, DECIMALS), round(value + reach, DECIMALS))


@dataclass(frozen=True, slots=True)
class Opponents:
    """A design of N battles of K runs: 1 of the first run, -1 of the second, and M further terms, N x M.

    Kept by places: of 83 runs a row has 81 zeros.
    """

    first: Indices
    second: Indices
    runs: int
    terms: Floats

    def logits(self, theta: Floats) -> Floats:
        of_terms: Floats = self.terms @ theta[self.runs :]
        return theta[self.first] - theta[self.second] + of_terms

    def sums(self, values: Floats, groups: Indices) -> Floats:
        """Sum values N times their rows by group, G x (K + M)."""
        number = int(groups.max()) + 1
        of_first, of_second = (
            np.bincount(groups * self.runs + run, values, number * self.runs) for run in (self.first, self.second)
        )
        of_terms = [np.bincount(groups, values * term, number) for term in self.terms.T]
        return np.column_stack([(of_first - of_second).reshape(number, self.runs), *of_terms])

    def information(self, weights: Floats) -> Floats:
        """Sum the products of each row with itself, by weights N: (K + M) x (K + M)."""
        met = np.bincount(self.first * self.runs + self.second, weights, self.runs**2)
        met = met.reshape(self.runs, self.runs)
        met = met + met.T
        weighted = weights[:, np.newaxis] * self.terms
        everything = np.zeros(len(weights), dtype=np.int32)
        across = [self.sums(column, everything)[0, : self.runs] for column in weighted.T]
        of_terms = np.array(across).reshape(-1, self.runs)
        squares = self.terms.T @ weighted
        return np.block([[np.diag(met.sum(axis=1)) - met, of_terms.T], [of_terms, squares]])


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings R, nan of runs outside the largest set in which everybody took points from everybody, with intervals."""

    value: Floats
    intervals: tuple[Interval, ...]


def ratings(sheet: BattleSheet) -> Ratings:
    """Rate runs on the scale of Elo: 400 points are odds of 10 to 1, and the mean of the rated runs is 1000."""
    rated = connected(sheet)
    runs, inside = np.flatnonzero(rated), sheet.of_runs(rated)
    value = np.full(len(rated), np.nan)
    intervals = [Interval()] * len(rated)
    if len(runs) > 1:
        fit = fit_logistic(opponents(inside, runs), inside.points, inside.topic)
        value[runs] = (MIDDLE + SCALE * fit.coefficients).round(DECIMALS)
        for place, run in enumerate(runs.tolist()):
            intervals[run] = fit.interval(place, middle=MIDDLE, scale=SCALE)
    return Ratings(value, tuple(intervals))


def field_rates(rating: Floats) -> Floats:
    """Win rates to expect against all other rated runs alike, R; nan of a run without a rating."""
    gaps = (rating[:, np.newaxis] - rating) / SCALE
    chances = 1 / (1 + np.exp(-gaps))
    np.fill_diagonal(chances, np.nan)
    others = ~np.isnan(chances)
    return ratio(np.where(others, chances, 0.0).sum(axis=1), others.sum(axis=1))


def length_slope(sheet: BattleSheet) -> Estimate | None:
    """Return by how much the logit of winning grows as an answer gets twice as long; None where undefined."""
    return _slope(sheet, ~np.isnan(sheet.lengths), sheet.lengths)


def side_term(sheet: BattleSheet) -> Estimate | None:
    """Return the logit that standing on the left adds, of battles whose first answer did; None where undefined."""
    return _slope(sheet, np.ones(len(sheet.points), dtype=np.bool_), np.ones(len(sheet.points)))


def _slope(sheet: BattleSheet, known: Booleans, term: Floats) -> Estimate | None:
    """Return the coefficient of a term beside ratings, over the battles of which it is known."""
    # Who is rated by other battles alone has no place in these: that rating would grow without end.
    sheet, term = sheet.where(known), term[known]
    rated = connected(sheet)
    used = rated[sheet.first] & rated[sheet.second]
    battles, term = sheet.where(used), term[used]
    if not term.any() or len(np.unique(battles.topic)) < FEWEST_TOPICS:
        return None
    design = opponents(battles, np.flatnonzero(rated), term)
    # Of runs that always stood on the left, ratings tell all that the side does.
    whole = design.information(np.ones(len(term)))
    of_all, of_runs = (
        np.linalg.matrix_rank(part, hermitian=True) for part in (whole, whole[: design.runs, : design.runs])
    )
    if of_all == of_runs:
        return None
    fit = fit_logistic(design, battles.points, battles.topic, farthest=STEEPEST)
    # Where the longer answer wins whatever the ratings do not tell, the slope grows without end.
    if np.abs(fit.coefficients).max() > STEEPEST:
        return None
    return Estimate(round(float(fit.coefficients[-1]), DECIMALS), fit.interval(len(fit.coefficients) - 1))


def opponents(sheet: BattleSheet, runs: NDArray[np.integer], *terms: Floats) -> Opponents:
    """Design of battles of these K runs, with M further `terms` of N values each."""
    place = np.full(len(sheet.run_ids), -1)
    place[runs] = np.arange(len(runs))
    further = np.column_stack(terms) if terms else np.zeros((len(sheet.points), 0))
    return Opponents(place[sheet.first], place[sheet.second], len(runs), further)


def connected(sheet: BattleSheet) -> Booleans:
    """Mask R of the largest set of runs in which everybody took points, by some way, from everybody."""
    runs = len(sheet.run_ids)
    reach = np.eye(runs, dtype=np.bool_)
    reach[sheet.first[sheet.points > 0], sheet.second[sheet.points > 0]] = True
    reach[sheet.second[sheet.points < 1], sheet.first[sheet.points < 1]] = True
    while (further := (reach.astype(np.float64) @ reach) > 0).sum() > reach.sum():
        reach = further
    mutual: Booleans = reach & reach.T
    largest: Booleans = mutual[mutual.sum(axis=1).argmax()]
    return largest


def fit_logistic(design: Opponents, points: Floats, topics: Indices, *, farthest: float = inf) -> LogisticFit:
    """Fit points in 0..1 by Newton's method to 1e-12; coefficients of runs sum to 0, as only their gaps count.

    It ends where a coefficient is beyond `farthest`.
    """
    theta = np.zeros(design.runs + design.terms.shape[1])
    for _ in range(MOST_STEPS):
        step, inverse, gradient = _newton(design, points, topics, theta)
        theta = theta + step
        if np.abs(step).max() < CLOSE or np.abs(theta).max() > farthest:
            break
    number = len(np.unique(topics))
    if number < 2:
        return LogisticFit(theta, None, number)
    covariance = number / (number - 1) * inverse @ (gradient.T @ gradient) @ inverse
    return LogisticFit(theta, covariance, number)


def _newton(design: Opponents, points: Floats, topics: Indices, theta: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the next step, the inverse of the information, and each topic's part of the gradient, T x (K + M)."""
    chance = 1 / (1 + np.exp(-design.logits(theta)))
    gradient = design.sums(points - chance, topics)
    information = design.information(chance * (1 - chance))
    inverse: Floats = np.linalg.pinv(information, rcond=SINGULAR, hermitian=True).astype(np.float64)
    step: Floats = inverse @ gradient.sum(axis=0)
    return step, inverse, gradient
