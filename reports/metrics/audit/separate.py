"""How many more judgments would tell two runs apart."""

from typing import Final

import numpy as np

from reports.metrics.arrays import Counts, Floats, ratio
from reports.metrics.audit.draw import KNOWN, Chances
from reports.metrics.audit.estimate import PRIOR, AuditSample, RunEstimates

STEP: Final = 10
SURE: Final = 3.0
"""Standard deviations: 1.96 for the interval to leave out 0, and 1.04 for it to do so with power .85."""


def variances_ahead(
    sample: AuditSample, found: RunEstimates, weights: Floats, run: int, number: int, least: int
) -> Floats:
    """Variance of a run's score at n, n + 10, n + 20, … judged pairs, K, until all are judged: 0.

    Each stratum keeps its present spread; its pairs have the chances of the larger draw.
    """
    frame = sample.frame
    pairs = int(((frame.run == run) & (frame.label != KNOWN)).sum())
    wanted = np.arange(number, max(pairs, number) + STEP, STEP)
    total = np.zeros(len(wanted))
    for stratum, numbers in frame.numbers(run, wanted, least).items():
        members = frame.members[stratum]
        if found.spread[stratum]:
            ahead = _unknown_ahead(Chances(frame.x[members]), weights[members], numbers)
            total += found.spread[stratum] * ahead
    return total


def _unknown_ahead(chances: Chances, weights: Floats, numbers: Counts) -> Floats:
    """(U² - Q) / (A + 1) + Q of one stratum for each number m that is drawn, K.

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
    stood_for = np.nan_to_num(inverse) - 2 * from_place(w**2) + c * from_place(w**2 * x)
    effective = np.where(c > 0, np.nan_to_num(ratio(unknown**2, stood_for)), 0.0)
    return np.maximum((unknown**2 - squares) / (3 * PRIOR + effective + 1) + squares, 0.0)


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
    # Who has all pairs judged has them judged at every later step.
    return np.append(variances, np.zeros(steps - len(variances)))
