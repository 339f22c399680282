"""Whether a run is no worse than another, or better: a verdict from scores by topic (docs/metrics.md#gate)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import Literal

import numpy as np

from reports.metrics.arrays import comparable
from reports.metrics.intervals import student
from reports.metrics.significance import paired_tests

Goal = Literal["no-worse", "better"]


class GateVerdict(StrEnum):
    """In the order of how bad it is. Of several scores the worst counts."""

    PASSED = "pass"
    UNDECIDED = "undecided"
    FAILED = "fail"
    BROKEN = "broken"

    @property
    def exit_code(self) -> int:
        return {GateVerdict.PASSED: 0, GateVerdict.FAILED: 1, GateVerdict.UNDECIDED: 2, GateVerdict.BROKEN: 3}[
            self
        ]


def worst(verdicts: list[GateVerdict]) -> GateVerdict:
    return max(verdicts, key=list(GateVerdict).index)


@dataclass(frozen=True, slots=True)
class GateRule:
    """`least`: how large a loss would not matter, or how large a gain would; `level`: of the interval."""

    goal: Goal
    least: float
    alpha: float
    level: float


@dataclass(frozen=True, slots=True)
class ScoredGate:
    """Verdict on one score: means over the topics of both, candidate less baseline, interval and test of that.

    `more_topics`: about so many more would decide; None where it is decided, or where none would.
    """

    score: str
    baseline: float
    candidate: float
    difference: float
    interval: tuple[float, float]
    p: float
    topics: int
    verdict: GateVerdict
    more_topics: int | None = None


def decide(
    score: str,
    baseline: Mapping[str, float],
    candidate: Mapping[str, float],
    rule: GateRule,
    *,
    lower_is_better: bool = False,
) -> ScoredGate:
    """Decide by scores by topic, of which at least two are on both sides."""
    topics = sorted(baseline.keys() & candidate.keys())
    values = np.array([[candidate[topic], baseline[topic]] for topic in topics])
    differences = values[:, 0] - values[:, 1]
    mean = float(differences.mean())
    # Of t, not of resamples: over 10 topics the percentiles of a bootstrap cover in 87 of 100 cases, t in 93.
    reach = student(len(topics) - 1, (1 + rule.level) / 2) * float(differences.std(ddof=1)) / sqrt(len(topics))
    p = float(paired_tests(values).p[0, 1])
    # Rounded, because .28 - .3 is no loss of .02 to the last bit.
    gain, half = comparable(np.array([-mean if lower_is_better else mean, reach])).tolist()
    verdict = _verdict(gain, half, p, rule)
    return ScoredGate(
        score=score,
        baseline=float(values[:, 1].mean()),
        candidate=float(values[:, 0].mean()),
        difference=mean,
        interval=(mean - reach, mean + reach),
        p=p,
        topics=len(topics),
        verdict=verdict,
        more_topics=_more_topics(gain, half, len(topics), rule) if verdict is GateVerdict.UNDECIDED else None,
    )


def _verdict(gain: float, reach: float, p: float, rule: GateRule) -> GateVerdict:
    is_a_loss = gain < 0 and p <= rule.alpha
    if rule.goal == "no-worse":
        passes, fails = gain - reach > -rule.least, gain <= -rule.least and is_a_loss
    else:
        passes = gain - reach > 0 and gain >= rule.least
        fails = gain + reach < rule.least or is_a_loss
    return GateVerdict.PASSED if passes else GateVerdict.FAILED if fails else GateVerdict.UNDECIDED


def _more_topics(gain: float, reach: float, topics: int, rule: GateRule) -> int | None:
    """Number of topics by which the interval would be so much narrower that it reaches no limit; None: no number is."""
    limits = (-rule.least,) if rule.goal == "no-worse" else (0.0, rule.least)
    distance = min(abs(gain - limit) for limit in limits)
    return None if distance == 0 else max(round(topics * (reach / distance) ** 2 - topics), 1)
