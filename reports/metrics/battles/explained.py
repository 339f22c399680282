"""How well scores of answers explain battles: P(first better) = S(b x - c), P(second better) = S(-b x - c), S logistic.

x is the first answer's score less the second's. A tie has what is left: (1 - e^(-2 c)) S(c - b x) S(b x + c).
"""

from dataclasses import dataclass
from math import exp, log
from typing import Final

import numpy as np

from reports.metrics.arrays import Booleans, Bytes, Floats, Indices, share
from reports.metrics.battles.agreement import LOST, TIED, WON
from reports.metrics.battles.ratings import DECIMALS
from reports.metrics.battles.win_rates import clustered, share_of
from reports.metrics.intervals import (
    FEWEST_TOPICS,
    NO_SPREAD,
    TOO_FEW_TOPICS,
    UNDEFINED_WITHOUT,
    Estimate,
    Interval,
    student,
)

CLOSE: Final = 1e-12
MOST_STEPS: Final = 50
STEEPEST: Final = 500.0
"""Slope beyond which scores tell who won without an error: the model then has no largest likelihood."""


TOO_WELL: Final = "undefined: scores tell every winner"


@dataclass(frozen=True, slots=True)
class ScoredBattles:
    """N battles with a score of both answers: places of topics, `gap` x, and outcomes of the first run."""

    topic: Indices
    gap: Floats
    outcome: Bytes

    def where(self, battles: Booleans) -> "ScoredBattles":
        return ScoredBattles(self.topic[battles], self.gap[battles], self.outcome[battles])


@dataclass(frozen=True, slots=True)
class Model:
    """Slope b and half the width c of the band of ties."""

    slope: float
    band: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """The model of all battles; log-losses a battle in nats, its topic left out, and what the scores `gain` of them."""

    model: Model
    loss: float
    loss_without: float
    gain: Estimate


@dataclass(frozen=True, slots=True)
class Explained:
    """`agree`: share of decided battles with a difference that the higher score won. `equal`: share without one.

    `prediction` is None for a `reason`.
    """

    decided: int
    agree: Estimate | None
    equal: float | None
    prediction: Prediction | None
    reason: str


def explained(battles: ScoredBattles) -> Explained:
    decided = battles.where((battles.outcome != TIED) & (battles.gap != 0))
    higher_won = (decided.gap > 0) == (decided.outcome == WON)
    points = [(float(won), str(topic)) for won, topic in zip(higher_won, decided.topic, strict=True)]
    prediction, reason = _prediction(battles)
    equal = share(int((battles.gap == 0).sum()), len(battles.gap))
    return Explained(len(points), share_of(points), equal, prediction, reason)


def _prediction(battles: ScoredBattles) -> tuple[Prediction | None, str]:
    topics = np.unique(battles.topic)
    if len(topics) < FEWEST_TOPICS:
        return None, TOO_FEW_TOPICS
    tied = battles.outcome == TIED
    # With the only topic of ties left out, a tie would be impossible.
    if min(len(np.unique(battles.topic[of])) for of in (tied, ~tied)) < 2:
        return None, UNDEFINED_WITHOUT
    losses, without = np.zeros(len(battles.gap)), np.zeros(len(battles.gap))
    whole = fit(battles)
    if whole is None:
        return None, TOO_WELL
    for topic in topics:
        out = battles.topic == topic
        rest, left_out = battles.where(~out), battles.where(out)
        model = fit(rest, whole)
        if model is None:
            return None, TOO_WELL
        losses[out] = loss(left_out, model)
        without[out] = loss(left_out, _without_scores(rest))
    model = Model(round(whole.slope, DECIMALS), round(whole.band, DECIMALS))
    with_scores, alone = (round(float(of.mean()), DECIMALS) for of in (losses, without))
    return Prediction(model, with_scores, alone, _mean((without - losses).round(DECIMALS), battles)), ""


def _mean(values: Floats, battles: ScoredBattles) -> Estimate:
    sums, numbers = np.bincount(battles.topic, weights=values), np.bincount(battles.topic).astype(np.float64)
    means = clustered(sums.astype(np.float64)[:, np.newaxis], numbers[:, np.newaxis], few=0.0)
    value, reach = float(means.value[0]), student(int(means.topics[0]) - 1) * float(means.error[0])
    return Estimate(value, Interval(value - reach, value + reach) if reach else Interval(reason=NO_SPREAD))


def _without_scores(battles: ScoredBattles) -> Model:
    decided = float((battles.outcome != TIED).mean())
    return Model(0.0, log(2 / decided - 1))


def loss(battles: ScoredBattles, model: Model) -> Floats:
    """Return -log of what the model says of each outcome, N."""
    first, second = _logits(battles, model)
    won, lost = battles.outcome == WON, battles.outcome == LOST
    # log S(x) = -log(1 + e^-x), and S(-x) = 1 - S(x)
    tied = log(1 - exp(-2 * model.band)) - np.logaddexp(0, first) - np.logaddexp(0, second)
    likely: Floats = np.where(won, -np.logaddexp(0, -first), np.where(lost, -np.logaddexp(0, -second), tied))
    return -likely


def fit(battles: ScoredBattles, start: Model | None = None) -> Model | None:
    """Fit by Newton's method to 1e-12; None where the likelihood grows without end. There is a tie, and no tie."""
    at = start or _without_scores(battles)
    for _ in range(MOST_STEPS):
        slope, band = _step(battles, at)
        # The band is above 0: a step that would leave it goes half of the way.
        at = Model(at.slope + slope, at.band + band if at.band + band > 0 else at.band / 2)
        if abs(at.slope) > STEEPEST:
            return None
        if max(abs(slope), abs(band)) < CLOSE:
            return at
    return None


def _step(battles: ScoredBattles, at: Model) -> tuple[float, float]:
    x, tied = battles.gap, battles.outcome == TIED
    grown = exp(2 * at.band) - 1
    gradient = np.array([0.0, 2 / grown * tied.sum()])
    information = np.array([[0.0, 0.0], [0.0, 4 * (grown + 1) / grown**2 * tied.sum()]])
    for sign, logit, won in zip((1, -1), _logits(battles, at), (WON, LOST), strict=True):
        direction = np.stack([sign * x, -np.ones(len(x))])
        chance, is_won = 1 / (1 + np.exp(-logit)), battles.outcome == won
        counts = is_won | tied
        gradient += direction @ (is_won - chance * counts)
        information += (direction * (chance * (1 - chance) * counts)) @ direction.T
    slope, band = np.linalg.lstsq(information, gradient, rcond=None)[0].tolist()
    return slope, band


def _logits(battles: ScoredBattles, model: Model) -> tuple[Floats, Floats]:
    return model.slope * battles.gap - model.band, -model.slope * battles.gap - model.band
