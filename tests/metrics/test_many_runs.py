"""Intervals of tau with many runs: they hold what as many topics show on average, and the tau itself."""

import numpy as np
import pytest

from reports.metrics.agreement import ScoreTable, agreement
from reports.metrics.arrays import Floats
from reports.metrics.bootstrap import intervals

from .sheet_makers import table

ANSWER = 0.25
"""Standard deviation of an answer's score around its run's mean."""
DRAWS = 60
Sides = tuple[ScoreTable, ScoreTable]


class Runs:
    """Runs whose means under two conditions are `x` and `y`; scores of as many topics as are asked for."""

    def __init__(self, runs: int, seed: int) -> None:
        self.draw = np.random.default_rng([runs, seed])
        self.x = self.draw.normal(0.5, 0.12, runs)
        self.y = self.x + self.draw.normal(0, 0.03, runs)

    def scores(self, topics: int) -> Sides:
        both = self.draw.normal(0, ANSWER * np.sqrt(0.8), (topics, len(self.x)))
        return self._table(self.x, both), self._table(self.y, both)

    def _table(self, means: Floats, both: Floats) -> ScoreTable:
        values = means + both + self.draw.normal(0, ANSWER * np.sqrt(0.2), both.shape)
        names = tuple(map(str, range(len(means)))), tuple(map(str, range(len(both))))
        return ScoreTable(*names, values, np.ones(len(both), dtype=np.bool_))


def held(
    level: str, runs: int, topics: int, *, worlds: int = 4, draws: int = DRAWS, resamples: int = 600
) -> float:
    """Fraction of draws whose interval holds the mean tau of so many topics; every tau must lie in its own."""
    found = []
    for seed in range(worlds):
        world = Runs(runs, seed)
        expected = np.mean([tau_of(world.scores(topics), level) for _ in range(150)])
        for _ in range(draws // worlds):
            drawn = world.scores(topics)
            ends = intervals(*drawn, resamples=resamples, levels=[level])[level].ends
            assert ends is not None
            assert -1 <= ends[0] <= tau_of(drawn, level) <= ends[1] <= 1
            found.append(ends[0] <= expected <= ends[1])
    return float(np.mean(found))


def tau_of(sides: Sides, level: str) -> float:
    tau = getattr(agreement(*sides), level)
    assert isinstance(tau, float)
    return tau


@pytest.mark.parametrize("level", ["run_level", "all_topic_run"])
def test_tau_of_twenty_runs_is_held(level: str) -> None:
    assert held(level, 20, 20, worlds=2, draws=40, resamples=300) >= 0.88


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "topics"), [(7, 20), (7, 50), (20, 20), (20, 50), (45, 20), (45, 50), (45, 119), (83, 50), (83, 119)]
)
def test_tau_of_many_runs_is_held(runs: int, topics: int) -> None:
    assert held("run_level", runs, topics) >= 0.88


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "topics"), [(7, 20), (20, 50), (45, 50)])
def test_pooled_tau_of_many_runs_is_held(runs: int, topics: int) -> None:
    assert held("all_topic_run", runs, topics) >= 0.88


@pytest.mark.parametrize("level", ["run_level", "all_topic_run"])
def test_a_hundred_runs_and_topics_hold_their_own_tau(level: str) -> None:
    drawn = Runs(100, 0).scores(100)
    ends = intervals(*drawn, resamples=200, levels=[level])[level].ends
    assert ends is not None
    assert ends[0] <= tau_of(drawn, level) <= ends[1]


@pytest.mark.parametrize("level", ["run_level", "all_topic_run"])
@pytest.mark.parametrize("sign", [1, -1])
def test_orders_that_agree_or_turn_in_full_end_at_one(level: str, sign: int) -> None:
    scores = [[run + topic / 100 for run in range(6)] for topic in range(6)]
    x = table(scores, topics="abcdef")
    y = table([[sign * score for score in row] for row in scores], topics="abcdef")
    found = intervals(x, y, resamples=50, levels=[level])[level]
    tau = tau_of((x, y), level)
    assert found.ends is not None
    assert -1 <= found.ends[0] <= tau <= found.ends[1] <= 1


def test_the_interval_says_for_what_it_holds() -> None:
    found = intervals(*Runs(7, 0).scores(12), resamples=50)
    words = "95 % interval for 12 topics like these; with more topics tau would be higher"
    assert {level: interval.note for level, interval in found.items()} == {
        "run_level": words,
        "topic_average": "",
        "all_topic_run": words,
    }
    assert found["run_level"].document["note"] == words
