"""The example that is counted by hand: two runs, two topics, three nuggets each, five pairs drawn of each run."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reports.metrics.label_matrix import AssignmentSheet
from reports.metrics.policies import Policies
from reports.metrics.random_check.draw import RandomCheckFrame, draw, place_in_order
from reports.metrics.random_check.estimate import (
    NORMAL,
    RandomCheckSample,
    RunEstimates,
    estimates,
    variances_ahead,
)
from reports.metrics.random_check.weights import drawable_sizes, nugget_sizes, nugget_weights, values_of
from reports.metrics.scores import SCORE_NAMES
from tests.metrics.sheet_makers import assignment_sheet

CODES = {"S": 2, "P": 1, "N": 0}
MACHINE = ("SSNSNN", "SPNNNS")
PEOPLE = ("SPNSSN", "SSNNNS")
CORRECTED = {
    "vital_strict": ((0.750000, 0.750000, 0.750000), (0.500000, 0.500000, 0.500000), (0.250000, 0.0)),
    "vital": ((0.875000, 0.875000, 0.875000), (0.500000, 0.500000, 0.500000), (0.375000, 0.0)),
    "weighted_strict": ((0.468258, 0.450000, 0.554784), (0.545000, 0.525000, 0.623399), (-0.076742, 0.116761)),
    "weighted": ((0.577388, 0.550000, 0.667264), (0.555000, 0.525000, 0.625000), (0.022388, 0.119265)),
    "all_strict": ((0.358355, 0.333333, 0.475038), (0.533333, 0.500000, 0.663998), (-0.174978, 0.175180)),
    "all": ((0.454199, 0.416667, 0.575085), (0.550000, 0.500000, 0.666667), (-0.095801, 0.178007)),
}
"""Value, low, high of both runs, and their difference with half of its interval."""


def sheet_of(labels: tuple[str, str]) -> AssignmentSheet:
    cells = [[CODES[run[nugget]] for run in labels] for nugget in range(6)]
    return assignment_sheet(["vvo", "voo"], cells)


def flat(cells: NDArray[Any]) -> NDArray[Any]:
    return cells.T.reshape(-1)


@pytest.fixture
def frame() -> RandomCheckFrame:
    sheet, run = sheet_of(MACHINE), np.repeat([0, 1], 6)
    names = [(name, f"t{topic}", f"n{nugget}", 0) for name in "AB" for topic in (1, 2) for nugget in (1, 2, 3)]
    return RandomCheckFrame(
        run=run,
        label=flat(sheet.labels).astype(np.int64),
        block=np.zeros(12, dtype=np.int64),
        size=drawable_sizes(run, flat(nugget_sizes(sheet))),
        order=np.array([place_in_order("demo", *name) for name in names]),
        runs=2,
    )


@pytest.fixture
def sample(frame: RandomCheckFrame) -> RandomCheckSample:
    chances = draw(frame, np.array([5, 5]), least=1)
    people = np.eye(3)[[CODES[word] for run in PEOPLE for word in run]]
    shares = np.where((chances > 0)[:, np.newaxis], people, 0.0)
    return RandomCheckSample(frame, chances, shares, np.tile([0, 0, 0, 1, 1, 1], 2))


def estimated(sample: RandomCheckSample, score: str) -> RunEstimates:
    weights = nugget_weights(sheet_of(MACHINE), Policies())[score].weights
    return estimates(sample, flat(weights), values_of(score))


def test_the_order_is_a_hash_of_seed_and_pair(frame: RandomCheckFrame) -> None:
    expected = [0.096648, 0.035741, 0.404086, 0.608498, 0.622559, 0.457389]
    expected += [0.570447, 0.534284, 0.409583, 0.533665, 0.108496, 0.816721]
    assert frame.order == pytest.approx(expected, abs=1e-6)
    assert frame.x == pytest.approx([0.2, 0.2, 0.1, 0.25, 0.125, 0.125] * 2)


def test_all_are_drawn_but_one_of_each_run(sample: RandomCheckSample) -> None:
    assert np.flatnonzero(sample.chances == 0).tolist() == [4, 8]
    in_not = sample.frame.label == 0
    assert sample.chances[in_not] == pytest.approx([4 / 7, 0, 5 / 7, 0, 1, 5 / 9], abs=1e-6)


@pytest.mark.parametrize("score", SCORE_NAMES)
def test_every_digit_comes_out(sample: RandomCheckSample, score: str) -> None:
    found = estimated(sample, score)
    a, b, (gap, half) = CORRECTED[score]
    low, high = found.interval
    for run, expected in enumerate((a, b)):
        assert (found.value[run], low[run], high[run]) == pytest.approx(expected, abs=1e-6)
    assert found.value[0] - found.value[1] == pytest.approx(gap, abs=1e-6)
    assert NORMAL * np.sqrt(found.variance.sum()) == pytest.approx(half, abs=1e-6)


def test_variances_ahead_are_those_of_the_plain_sums(sample: RandomCheckSample) -> None:
    found = estimated(sample, "weighted")
    weights = flat(nugget_weights(sheet_of(MACHINE), Policies())["weighted"].weights)
    frame = sample.frame
    for run in (0, 1):
        expected = 0.0
        for stratum, members in enumerate(frame.members):
            if frame.stratum_run[stratum] != run:
                continue
            number = int((sample.chances[members] > 0).sum())
            x, w = frame.x[members], weights[members]
            share = np.minimum(number * x / x.sum(), 1.0)
            if (share < 1).any() and (share >= 1).any():
                rest = share < 1
                share[rest] = (number - (~rest).sum()) * x[rest] / x[rest].sum()
            u, q = ((1 - share) * w).sum(), ((1 - share) * w**2).sum()
            t2 = ((1 - share) ** 2 * w**2 / share).sum()
            a = 1.5 + (u**2 / t2 if t2 else 0.0)
            expected += found.spread[stratum] * ((u**2 - q) / (a + 1) + q)
        ahead = variances_ahead(sample, found, weights, run, 5, 1)
        assert ahead == pytest.approx([expected, 0.0], abs=1e-12)
