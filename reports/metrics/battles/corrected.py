"""Corrected win rates: an LLM judged all battles of a set, and people a sample of them.

A battle stands in them twice, from the side of either run, with weight 1 / N of the N battles of that run. Strata are
the LLM's points from the run's side: below 1/2, 1/2, above, none. Rates of strata and variances are those of random
checks (`random_check.estimate`) with points in the place of labels; intervals take t of the judged battles less 1.
Two runs err together where they met: the difference has twice the sum of s(a) s(b) / (N(a) N(b)) over their battles
that nobody judged, s² being the spread in the stratum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import Final

import numpy as np

from evaluation.labels import NO_LABEL
from reports.metrics.arrays import Booleans, Counts, Floats, Indices
from reports.metrics.battles.agreement import outcomes
from reports.metrics.battles.sheet import BattleSheet
from reports.metrics.battles.win_rates import RunDifference
from reports.metrics.intervals import FEWEST_TOPICS, TOO_FEW_TOPICS, Interval, student, two_sided_p
from reports.metrics.random_check.draw import KNOWN, RandomCheckFrame
from reports.metrics.random_check.estimate import (
    RandomCheckSample,
    RunEstimates,
    TopicEstimates,
    estimates,
    topic_estimates,
)
from reports.metrics.significance import holm

POINTS: Final = np.array([0.0, 0.5, 1.0])


@dataclass(frozen=True, slots=True)
class BattleSample:
    """All N battles of a set, and what people say of those drawn.

    `llm` N: points of the first run, nan where the LLM failed. `block` N: 0, or the growth that added the battle.
    `chances` N: 0 where it was not drawn. `people` N x 3: shares of people by whom the first run lost, tied, won;
    zeros where nobody could say. `by_rule` N: decided by a missing answer, and known without anybody.
    """

    run_ids: tuple[str, ...]
    topic_ids: tuple[str, ...]
    topic: Indices
    first: Indices
    second: Indices
    llm: Floats
    block: Counts
    chances: Floats
    people: Floats
    by_rule: Booleans

    @property
    def judged(self) -> Booleans:
        judged: Booleans = self.people.any(axis=1) & ~self.by_rule
        return judged

    @property
    def people_sheet(self) -> BattleSheet:
        """The drawn battles by people's points; lengths are not known."""
        points, size = self.people @ POINTS, len(self.topic)
        nothing = np.zeros(size, dtype=np.bool_)
        sheet = BattleSheet(
            self.run_ids,
            self.topic_ids,
            self.topic,
            self.first,
            self.second,
            points,
            np.full(size, np.nan),
            nothing,
            nothing,
        )
        return sheet.where(self.judged)


@dataclass(frozen=True)
class CorrectedRates:
    """Corrected win rates of R runs, for these topics or, with `topic_rates`, for others like them.

    `judged` R: battles that people judged. `shared` R x R: what two runs err together because they met.
    """

    run_estimates: RunEstimates
    topic_rates: TopicEstimates | None
    judged: Counts
    shared: Floats

    @property
    def value(self) -> Floats:
        return self.run_estimates.value

    def interval(self, run: int) -> Interval:
        of_run, value = self.run_estimates, float(self.value[run])
        if self.topic_rates is None:
            reach = student(int(self.judged[run]) - 1) * float(of_run.sd[run])
            return Interval(
                max(value - reach, float(of_run.least[run])), min(value + reach, float(of_run.most[run]))
            )
        topics = int((~np.isnan(self.topic_rates.means[run])).sum())
        reach = student(topics - 1) * sqrt(float(self.topic_rates.variance[run]))
        return Interval(max(value - reach, 0.0), min(value + reach, 1.0))

    def differences(self, runs: Sequence[int], fewest_topics: int = FEWEST_TOPICS) -> list[RunDifference]:
        """Compare every two of these runs; for new topics those of fewer topics in common have no interval and no p."""
        pairs = [(a, b) for place, a in enumerate(runs) for b in runs[place + 1 :]]
        gaps = [self._gap(a, b, fewest_topics) for a, b in pairs]
        p = np.array([_p(*gap) for gap in gaps])
        return [
            RunDifference(a, b, gap[0], _around(*gap), float(one), float(all_))
            for (a, b), gap, one, all_ in zip(pairs, gaps, p, holm(p), strict=True)
        ]

    def _gap(self, a: int, b: int, fewest_topics: int) -> tuple[float, float, int]:
        """Return the difference of two runs, its standard error, nan for too few topics, and degrees of freedom."""
        value, shared = float(self.value[a] - self.value[b]), 2 * float(self.shared[a, b])
        variance = float(self.run_estimates.variance[a] + self.run_estimates.variance[b]) + shared
        if self.topic_rates is None:
            return value, sqrt(variance), int(min(self.judged[a], self.judged[b])) - 1
        gaps = self.topic_rates.means[a] - self.topic_rates.means[b]
        gaps = gaps[~np.isnan(gaps)]
        if len(gaps) < fewest_topics:
            return value, nan, 0
        inner = (self.topic_rates.inner[a] + self.topic_rates.inner[b]) / len(gaps) + shared
        return value, sqrt(float(gaps.var(ddof=1)) / len(gaps) + inner + variance), len(gaps) - 1


def corrected_rates(sample: BattleSample, *, new_topics: bool = False) -> CorrectedRates:
    """Correct the LLM's win rates; `new_topics`: as those of a sample of topics."""
    runs, size = len(sample.run_ids), len(sample.topic)
    run = np.concatenate([sample.first, sample.second]).astype(np.int64)
    labels = np.concatenate([_strata(sample, sample.llm), _strata(sample, 1 - sample.llm)])
    frame = RandomCheckFrame(
        run=run,
        label=labels,
        block=np.tile(sample.block, 2),
        size=np.ones(2 * size),
        order=np.zeros(2 * size),
        runs=runs,
    )
    shares = np.concatenate([sample.people, sample.people[:, ::-1]])
    from_both = RandomCheckSample(
        frame, np.tile(sample.chances, 2), shares, np.tile(sample.topic, 2).astype(np.int64)
    )
    weights = 1 / np.bincount(run, minlength=runs)[run]
    of_run = estimates(from_both, weights, POINTS)
    spread = np.sqrt(of_run.spread[frame.stratum]) * weights * ~from_both.judged
    shared = np.zeros((runs, runs))
    np.add.at(shared, (sample.first, sample.second), spread[:size] * spread[size:])
    counted = np.zeros((runs, len(sample.topic_ids)), dtype=np.bool_)
    counted[run, from_both.topic] = True
    return CorrectedRates(
        run_estimates=of_run,
        topic_rates=topic_estimates(from_both, of_run, weights, POINTS, counted) if new_topics else None,
        judged=np.bincount(run, np.tile(sample.judged, 2), minlength=runs).astype(np.int64),
        shared=shared + shared.T,
    )


def _strata(sample: BattleSample, points: Floats) -> Counts:
    labels = outcomes(np.nan_to_num(points)).astype(np.int64)
    labels[np.isnan(points)] = NO_LABEL
    labels[sample.by_rule] = KNOWN
    return labels


def _around(value: float, error: float, freedom: int) -> Interval:
    if isnan(error):
        return Interval(reason=TOO_FEW_TOPICS)
    reach = student(freedom) * error
    return Interval(value - reach, value + reach)


def _p(value: float, error: float, freedom: int) -> float:
    if isnan(error):
        return nan
    if not error:
        return float(value == 0)
    return two_sided_p(value / error, freedom)
