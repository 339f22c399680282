"""The draw of a random check: how many pairs of each stratum, in which order, and with which chances.

A stratum is a run's pairs of one LLM label; of a rubric, those with criteria below 0 are strata apart. Within it pairs
are drawn with chances in proportion to their size x, by sequential Poisson sampling (Ohlsson 1998): the least u / x
first, u a hash of seed and pair, so that a larger draw holds every smaller one. Symbols: P pairs, H strata, R runs,
n pairs to draw of a run, m of a stratum.
"""

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Final

import numpy as np

from evaluation.labels import NO_LABEL
from reports.metrics.arrays import Booleans, Bytes, Counts, Floats
from reports.metrics.label_matrix import NUGGET_POINTS

KNOWN: Final = NO_LABEL + 1
"""Judged before, in whatever way chosen: such pairs count as themselves and say nothing about others."""
_CODES: Final = KNOWN + 1

HEX_DIGITS: Final = 13
TOLERANCE: Final = 1e-9
"""Below what a count of pairs can differ by, above the error of a sum of some thousand sizes."""
_NOTHING: Final = np.zeros(0, dtype=np.int64)


def place_in_order(seed: str, *names: object) -> float:
    """A pair's u, in (0, 1): the same in every database, and of no other pair."""
    text = "\n".join([seed, *map(str, names)])
    return float((int(sha256(text.encode()).hexdigest()[:HEX_DIGITS], 16) + 0.5) / 16**HEX_DIGITS)


def factors_of(points: Bytes) -> Floats:
    """Factor of each label in the draw, those of a scale by their points, and last that of a missing or failed one."""
    # An LLM errs most when it hesitates: half-way labels and missing ones are drawn twice as often.
    return np.append(np.where((points == points[0]) | (points == points[-1]), 1.0, 2.0), 2.0)


def split(counts: Counts, slopes: Floats, numbers: Counts, least: int) -> Counts:
    """Pairs to draw of each stratum, K x H, for each of K numbers n of one run.

    `counts` and `slopes` are H: a stratum's pairs, and the factor of its label by the sum of their x. A stratum
    gives min(N, max(min(N, least), k · factor · X)), k such that n are drawn, rounded by largest remainders.
    """
    floors = np.minimum(counts, least)
    at_ends = np.concatenate([floors[counts > 0] / slopes[counts > 0], counts[counts > 0] / slopes[counts > 0]])
    # The sum rises with k in straight lines, which bend only where a stratum leaves its floor or is drawn in full.
    bends = np.concatenate([[0.0], np.sort(at_ends)])
    totals = np.clip(numbers, floors.sum(), counts.sum())
    k = np.interp(totals, np.clip(np.outer(bends, slopes), floors, counts).sum(axis=1), bends)
    quotas = np.clip(np.outer(k, slopes), floors, counts)
    whole = np.floor(quotas + TOLERANCE).astype(np.int64)
    # Rounded, so that equal remainders stay ties and go by label; the sort must be stable for that.
    by_remainder = np.argsort(-np.round(quotas - whole, 9), axis=1, kind="stable")
    left = (totals - whole.sum(axis=1))[:, np.newaxis]
    numbers_drawn: Counts = whole + (np.argsort(by_remainder, axis=1) < left)
    return numbers_drawn


@dataclass(frozen=True)
class Chances:
    """Inclusion probabilities within one stratum of N pairs with sizes `x`, for any number m that is drawn.

    pi = m · x / X; where that reaches 1 it is 1 and the rest share what is left, until none does.
    """

    x: Floats

    @cached_property
    def descending(self) -> Counts:
        """Pairs from the largest on, N."""
        return np.argsort(-self.x, kind="stable")

    @cached_property
    def rest(self) -> Floats:
        """Sum of x from each place of `descending` on, N."""
        return np.cumsum(self.x[self.descending][::-1])[::-1]

    def certain(self, numbers: Counts) -> Counts:
        """Pairs that are drawn for sure, the first of `descending`, for each number m."""
        # The pair at place j is certain where (m - j) · x / rest reaches 1, and the bound rises with j.
        bounds = np.arange(len(self.x)) + self.rest / self.x[self.descending]
        return np.searchsorted(bounds, numbers + TOLERANCE, side="right")

    def of(self, number: int) -> Floats:
        """Inclusion probability of each pair, N, in (0, 1]; 0 where nothing is drawn."""
        certain = int(self.certain(np.array([number]))[0])
        chances = np.ones_like(self.x)
        others = self.descending[certain:]
        if len(others):
            chances[others] = (number - certain) * self.x[others] / self.rest[certain]
        return chances


def first_pairs(order: Floats, x: Floats, chances: Floats, number: int) -> Booleans:
    """The m pairs of a stratum that are drawn, N: those that are certain, then the least u / x."""
    certain = chances >= 1
    by_order = np.argsort(np.where(certain, -1.0, order / x), kind="stable")
    drawn = np.zeros(len(x), dtype=np.bool_)
    drawn[by_order[:number]] = True
    return drawn


@dataclass(frozen=True)
class RandomCheckFrame:
    """P pairs that a random check is about, whichever are drawn.

    `run` P, index of R; `label` P, a place on the scale, NO_LABEL or KNOWN; `block` P, 0 for what was there at the
    draw, then the number of the extension that added it; `size` P, below 0 where a pair counts against its answer;
    `order` P, the u of `place_in_order`. `points`: of the labels of the scale, K.
    """

    run: Counts
    label: Counts
    block: Counts
    size: Floats
    order: Floats
    runs: int
    points: Bytes = field(default_factory=NUGGET_POINTS.copy)

    @property
    def x(self) -> Floats:
        return np.abs(self.size)

    @cached_property
    def stratum(self) -> Counts:
        """Stratum of each pair, P, in [0, H)."""
        return self._strata[1]

    @cached_property
    def stratum_run(self) -> Counts:
        """Run of each stratum, H."""
        return self._strata[0] // (2 * _CODES * self._blocks)

    @cached_property
    def members(self) -> list[Counts]:
        """Places of the pairs of each stratum, H arrays."""
        order = np.argsort(self.stratum, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.stratum, minlength=len(self._strata[0])))[:-1])

    @property
    def _blocks(self) -> int:
        return int(self.block.max(initial=0)) + 1

    @cached_property
    def _strata(self) -> tuple[Counts, Counts]:
        code = ((self.run * self._blocks + self.block) * 2 + (self.size < 0)) * _CODES + self.label
        codes, place = np.unique(code, return_inverse=True)
        return codes, place.astype(np.int64)

    def numbers(self, run: int, totals: Counts, least: int) -> dict[int, Counts]:
        """Pairs to draw of each stratum of a run, by stratum, for each of K numbers n; without the known pairs.

        n is of the block with which the run came in; a later one gives the same fraction, by the same rule.
        """
        mine = np.flatnonzero((self.stratum_run == run) & (self._strata[0] % _CODES != KNOWN))
        block, label = np.divmod(self._strata[0][mine] % (2 * _CODES * self._blocks), 2 * _CODES)
        by_stratum: dict[int, Counts] = {}
        labels, factors = (*range(len(self.points)), NO_LABEL), factors_of(self.points)
        # What an answer must not say it says far more rarely: one rate for both would lean towards the other.
        codes = (*labels, *(label + _CODES for label in labels))
        first = 0
        for number in np.unique(block):
            strata = {int(label[place]): int(mine[place]) for place in np.flatnonzero(block == number)}
            pairs = [self.members[strata[code]] if code in strata else _NOTHING for code in codes]
            counts = np.array([len(part) for part in pairs])
            first = first or int(counts.sum())
            share = totals if number == block[0] else -(-totals * int(counts.sum()) // first)
            sizes = np.array([self.x[part].sum() for part in pairs])
            drawn = split(counts, np.tile(factors, 2) * sizes, share, least)
            by_stratum |= {strata[code]: drawn[:, place] for place, code in enumerate(codes) if code in strata}
        return by_stratum


def draw(frame: RandomCheckFrame, numbers: Counts, least: int, before: Booleans | None = None) -> Floats:
    """Inclusion probability of each drawn pair, P; 0 where it is not drawn. `numbers`: n of each run, R.

    `before`: pairs that were drawn already, P, and stay. Known pairs have 1.
    """
    chances = np.where(frame.label == KNOWN, 1.0, 0.0)
    kept = np.zeros(len(frame.x), dtype=np.bool_) if before is None else before
    for run in range(frame.runs):
        for stratum, number in frame.numbers(run, numbers[run : run + 1], least).items():
            pairs = frame.members[stratum]
            # Rounding may give a stratum one pair less at a larger n, and what was drawn stays.
            m = max(int(number[0]), int(kept[pairs].sum()))
            probability = Chances(frame.x[pairs]).of(m)
            drawn = first_pairs(frame.order[pairs], frame.x[pairs], probability, m) | kept[pairs]
            chances[pairs[drawn]] = probability[drawn]
    return chances
