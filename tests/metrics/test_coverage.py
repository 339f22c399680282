"""How often intervals hold the figure of all topics of the list-QA study, for few and more topics drawn from them.

The table of docs/metrics.md, at a size at which it is told apart from that of a plain bootstrap.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from reports.metrics.agreement import ScoreTable, agreement
from reports.metrics.arrays import Counts, Floats
from reports.metrics.bootstrap import intervals
from reports.metrics.confusion import FIGURES, label_intervals
from reports.metrics.intervals import FRACTIONS, Interval, difference_intervals, mean_intervals

from .test_jackknife import list_qa

SIZES = (5, 10, 20, 50)
Held = list[bool]


@pytest.fixture
def assignments(shared_data: Path) -> Path:
    return shared_data / "qampari-list-qa" / "assignments"


def vital_strict(folder: Path) -> Floats:
    """Scores of the study's 49 topics and 7 runs; a topic without a vital nugget scores 0."""
    found: dict[tuple[str, str], float] = {}
    for line in (line for file in folder.iterdir() for line in file.read_text().splitlines()):
        row = json.loads(line)
        vital = [nugget["assignment"] == "support" for nugget in row["nuggets"] if nugget["importance"] == "vital"]
        found[row["qid"], row["run_id"]] = sum(vital) / max(len(vital), 1)
    topics, runs = (sorted(set(names)) for names in zip(*found, strict=True))
    return np.array([[found[topic, run] for run in runs] for topic in topics])


def holds(found: Interval, truth: float) -> Held:
    return [] if found.ends is None else [found.ends[0] <= truth <= found.ends[1]]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_means_and_differences_are_covered(size: int, assignments: Path) -> None:
    values, draw = vital_strict(assignments / "edited-nuggets.manual-assign"), np.random.default_rng(size)
    truth = values.mean(axis=0)
    means: Held = []
    differences: Held = []
    percentiles: Held = []
    for _ in range(1000):
        sample = values[draw.integers(0, len(values), size)]
        pairs = difference_intervals(sample, FRACTIONS)
        for run, found in enumerate(mean_intervals(sample)):
            means += holds(found, truth[run])
            for other in range(run):
                differences += holds(pairs[run][other], truth[run] - truth[other])
        resampled = sample[draw.integers(0, size, (200, size))].mean(axis=1)
        low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
        percentiles += ((low <= truth) & (truth <= high)).tolist()
    assert np.mean(means) >= 0.92
    assert np.mean(differences) >= 0.92
    if size <= 10:
        assert np.mean(percentiles) <= 0.92
        assert np.mean(means) >= np.mean(percentiles) + 0.04


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_figures_of_labels_are_covered(size: int, assignments: Path) -> None:
    tables, draw = list_qa(assignments), np.random.default_rng(size)
    truth = {name: float(figure.value(tables.sum(axis=0, dtype=float))) for name, figure in FIGURES.items()}
    held: dict[str, Held] = {name: [] for name in FIGURES}
    for _ in range(600):
        sample = tables[draw.integers(0, len(tables), size), 0]
        for name, found in label_intervals(sample).items():
            held[name] += holds(found, truth[name])
    assert np.mean(held.pop("ordinal_strictness")) >= 0.86
    assert {name: float(np.mean(found)) for name, found in held.items() if np.mean(found) < 0.91} == {}


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_taus_are_covered(size: int, assignments: Path) -> None:
    """At the run level and over all pairs: the mean tau of as many topics."""
    sides = [vital_strict(assignments / f"edited-nuggets.{by}-assign") for by in ("auto", "manual")]
    draw = np.random.default_rng(size)

    def tables(topics: Counts) -> tuple[ScoreTable, ScoreTable]:
        names = tuple(map(str, range(7))), tuple(map(str, range(len(topics))))
        x, y = (ScoreTable(*names, side[topics], np.ones(len(topics), dtype=np.bool_)) for side in sides)
        return x, y

    of_all = len(sides[0])
    held: dict[str, Held] = {"run_level": [], "topic_average": [], "all_topic_run": []}
    means = [agreement(*tables(draw.integers(0, of_all, size))) for _ in range(300)]
    expected = {level: np.mean([getattr(found, level) or 0 for found in means]) for level in held}
    expected["topic_average"] = agreement(*tables(np.arange(of_all))).topic_average or 0
    for _ in range(150):
        drawn = tables(draw.integers(0, of_all, size))
        for level, found in intervals(*drawn, resamples=1000).items():
            held[level] += holds(found, float(expected[level]))
    least = 0.85 if size > 5 else 0.72
    assert {level: float(np.mean(found)) for level, found in held.items() if np.mean(found) < least} == {}
