"""Draw many random checks of the list-QA study; how often intervals hold: `python -m loadtest.random_checks FOLDER`.

FOLDER is that study's (`runs`, `nuggets`, `assignments`). People's labels are the truth, the LLM's make the strata.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from evaluation.labels import NO_LABEL
from reports.metrics.arrays import Booleans, Counts, Floats
from reports.metrics.label_matrix import OKAY, VITAL, AssignmentSheet
from reports.metrics.policies import Policies
from reports.metrics.random_check.draw import RandomCheckFrame, draw, place_in_order
from reports.metrics.random_check.estimate import (
    NORMAL,
    PRIOR,
    RandomCheckSample,
    RunEstimates,
    estimates,
    more_to_separate,
    topic_estimates,
    variances_ahead,
)
from reports.metrics.random_check.weights import drawable_sizes, nugget_sizes, nugget_weights, values_of
from reports.metrics.scores import SCORE_NAMES, run_scores

WORDS = {"not_support": 0, "partial_support": 1, "support": 2}
IMPORTANCE = {"vital": VITAL, "okay": OKAY}
LEAST = 5


@dataclass(frozen=True)
class RandomCheckWorld:
    """P pairs that an LLM and people have labelled: `llm` and `people` are sheets of the same nuggets."""

    llm: AssignmentSheet
    people: AssignmentSheet
    names: tuple[tuple[str, str, str, int], ...]

    @property
    def runs(self) -> int:
        return len(self.llm.run_ids)

    @cached_property
    def run(self) -> Counts:
        return np.repeat(np.arange(self.runs), len(self.llm.importance))

    @cached_property
    def topic(self) -> Counts:
        return np.tile(self.llm.nugget_topic, self.runs)

    @cached_property
    def truth(self) -> Floats:
        truth: Floats = np.eye(3)[flat(self.people.labels)]
        return truth

    @cached_property
    def weights(self) -> dict[str, Floats]:
        return {name: flat(found.weights) for name, found in nugget_weights(self.llm, Policies()).items()}

    @cached_property
    def counted(self) -> Booleans:
        return nugget_weights(self.llm, Policies())["vital"].counted.T

    @cached_property
    def people_scores(self) -> Floats:
        return run_scores(self.people, Policies()).means

    def frame(self, seed: str, *, equal: bool = False) -> RandomCheckFrame:
        """The frame with the order of a seed; `equal`: of equal sizes."""
        sizes = drawable_sizes(self.run, flat(nugget_sizes(self.llm)))
        order = np.array([place_in_order(seed, *names) for names in self.names])
        labels = flat(self.llm.labels).astype(np.int64)
        return RandomCheckFrame(
            run=self.run,
            label=np.where(labels < 0, NO_LABEL, labels),
            block=np.zeros(len(order), dtype=np.int64),
            size=np.ones_like(sizes) if equal else sizes,
            order=order,
            runs=self.runs,
        )

    def sample(self, frame: RandomCheckFrame, chances: Floats) -> RandomCheckSample:
        """Labels by people of the drawn pairs."""
        return RandomCheckSample(
            frame, chances, np.where((chances > 0)[:, np.newaxis], self.truth, 0.0), self.topic
        )

    def with_machine(self, labels: Counts) -> "RandomCheckWorld":
        """The same with other labels of the LLM, N x R."""
        return RandomCheckWorld(replace(self.llm, labels=labels.astype(np.int8)), self.people, self.names)

    def of_topics(self, topics: Counts) -> "RandomCheckWorld":
        places = [np.flatnonzero(self.llm.nugget_topic == topic) for topic in topics]
        nuggets = np.concatenate(places)
        number = np.repeat(np.arange(len(topics)), [len(place) for place in places])
        ids = tuple(f"{self.llm.topic_ids[topic]}#{place}" for place, topic in enumerate(topics))
        llm, people = (
            replace(
                sheet,
                topic_ids=ids,
                listed=sheet.listed[topics],
                nugget_topic=number.astype(np.int32),
                importance=sheet.importance[nuggets],
                weight=sheet.weight[nuggets],
                labels=sheet.labels[nuggets],
                answered=sheet.answered[topics],
                words=sheet.words[topics],
            )
            for sheet in (self.llm, self.people)
        )
        count = len(self.llm.importance)
        names = tuple(
            (run, ids[place], *self.names[at * count + nugget][2:])
            for at, run in enumerate(self.llm.run_ids)
            for nugget, place in zip(nuggets.tolist(), number.tolist(), strict=True)
        )
        return RandomCheckWorld(llm, people, names)


def flat(cells: NDArray[Any]) -> NDArray[Any]:
    return cells.T.reshape(-1)


def list_qa(folder: Path) -> RandomCheckWorld:
    """Read the study: edited nuggets, labels by an LLM and by its authors."""
    lists = {row["qid"]: row["nuggets"] for row in _rows(folder / "nuggets" / "edited.jsonl") if row["nuggets"]}
    topics = tuple(lists)
    nuggets = [(topic, nugget) for topic in topics for nugget in lists[topic]]
    runs = tuple(path.stem for path in sorted((folder / "runs").iterdir()))
    sheets = []
    for judge in ("edited-nuggets.auto-assign", "edited-nuggets.manual-assign"):
        labels = np.full((len(nuggets), len(runs)), -1, dtype=np.int8)
        for column, run in enumerate(runs):
            given = {row["qid"]: row["nuggets"] for row in _rows(folder / "assignments" / judge / f"{run}.jsonl")}
            words = [nugget["assignment"] for topic in topics for nugget in given[topic]]
            labels[:, column] = [WORDS.get(word, -1) for word in words]
        shape = (len(topics), len(runs))
        sheets.append(
            AssignmentSheet(
                run_ids=runs,
                topic_ids=topics,
                column_run=np.arange(len(runs), dtype=np.int32),
                listed=np.ones(len(topics), dtype=np.bool_),
                nugget_topic=np.array([topics.index(topic) for topic, _ in nuggets], dtype=np.int32),
                importance=np.array([IMPORTANCE.get(row["importance"], 0) for _, row in nuggets], dtype=np.int8),
                weight=np.full(len(nuggets), np.nan),
                labels=labels,
                answered=np.ones(shape, dtype=np.bool_),
                words=np.full(shape, 10, dtype=np.int32),
                labelled=np.ones(len(runs), dtype=np.bool_),
            )
        )
    names = tuple((run, topic, row["text"], 0) for run in runs for topic, row in nuggets)
    return RandomCheckWorld(sheets[0], sheets[1], names)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    yield from (json.loads(line) for line in path.read_text("utf-8").splitlines())


@dataclass(frozen=True)
class Tally:
    """Results of K draws: `error`, `width` and `covered`, K x 6 x R."""

    error: Floats
    width: Floats
    covered: Booleans
    values: Floats
    variances: Floats

    @property
    def coverage(self) -> Floats:
        coverage: Floats = self.covered.mean(axis=(0, 2))
        return coverage

    @property
    def worst_run(self) -> float:
        return float(self.covered.mean(axis=0).min())

    @property
    def errors(self) -> Floats:
        """Root of the mean squared error by score, 6."""
        errors: Floats = np.sqrt((self.error**2).mean(axis=(0, 2)))
        return errors


def all_estimates(world: RandomCheckWorld, sample: RandomCheckSample) -> list[RunEstimates]:
    return [estimates(sample, world.weights[name], values_of(name)) for name in SCORE_NAMES]


def tally(
    make: Callable[[int], tuple[RandomCheckWorld, RandomCheckSample]],
    seeds: int,
    *,
    quiet: bool = False,
    what: str = "",
) -> Tally:
    found = []
    for seed in tqdm(range(seeds), desc=what, unit="check", disable=quiet or None):
        world, sample = make(seed)
        scores = all_estimates(world, sample)
        low, high = (np.stack([score.interval[end] for score in scores]) for end in (0, 1))
        value = np.stack([score.value for score in scores])
        truth = world.people_scores
        covered = (low <= truth + 1e-9) & (truth <= high + 1e-9)
        found.append((value - truth, high - low, covered, value, np.stack([score.variance for score in scores])))
    return Tally(*(np.stack(part) for part in zip(*found, strict=True)))


def drawn(world: RandomCheckWorld, number: int) -> Callable[[int], tuple[RandomCheckWorld, RandomCheckSample]]:
    def make(seed: int) -> tuple[RandomCheckWorld, RandomCheckSample]:
        frame = world.frame(f"s{seed}")
        chances = draw(frame, np.full(world.runs, number), LEAST)
        return world, world.sample(frame, chances)

    return make


def plainly_covered(world: RandomCheckWorld, number: int, seeds: int, run: int, score: str) -> float:
    """How often the interval of one run holds with equal chances and labels counted without their weights.

    It is wrong where the LLM errs on some importance only: the check that planted faults bite.
    """
    weights, values, covered = world.weights[score], values_of(score), []
    truth = world.people_scores[SCORE_NAMES.index(score), run]
    for seed in range(seeds):
        frame = world.frame(f"s{seed}", equal=True)
        sample = world.sample(frame, draw(frame, np.full(world.runs, number), LEAST))
        rates = estimates(sample, np.ones_like(weights), values)
        rest = np.where(sample.judged, 0.0, weights)
        unknown = np.bincount(frame.stratum, rest)
        squares = np.bincount(frame.stratum, rest**2)
        judged = np.bincount(frame.stratum, sample.judged)
        variance = rates.spread * ((unknown**2 - squares) / (3 * PRIOR + judged + 1) + squares)
        known = float((weights * (sample.shares @ values))[frame.run == run].sum())
        mine = frame.stratum_run == run
        value = known + float((unknown * rates.rate)[mine].sum())
        covered.append(abs(value - truth) <= NORMAL * np.sqrt(variance[mine].sum()))
    return float(np.mean(covered))


def turned_round(world: RandomCheckWorld, run: int, *, okay_only: bool = False) -> RandomCheckWorld:
    labels = world.llm.labels.astype(np.int64).copy()
    nuggets = world.llm.importance == OKAY if okay_only else np.ones(len(labels), dtype=np.bool_)
    column = labels[nuggets, run]
    labels[nuggets, run] = np.where(column >= 0, 2 - column, column)
    return world.with_machine(labels)


def shuffled_labels(world: RandomCheckWorld) -> RandomCheckWorld:
    labels = world.llm.labels.astype(np.int64).copy()
    return world.with_machine(np.random.default_rng(0).permutation(labels.reshape(-1)).reshape(labels.shape))


@dataclass(frozen=True, slots=True)
class PairsTally:
    """Differences of all pairs of runs: shares covered, and apart the wrong way."""

    covered: float
    wrong_way: float


def pairs_tally(world: RandomCheckWorld, found: Tally) -> PairsTally:
    """Compare the differences of every two runs with people's."""
    truth = world.people_scores
    covered, wrong = [], []
    for a, b in combinations(range(world.runs), 2):
        gap = found.values[:, :, a] - found.values[:, :, b]
        half = NORMAL * np.sqrt(found.variances[:, :, a] + found.variances[:, :, b])
        real = truth[:, a] - truth[:, b]
        covered.append(np.abs(gap - real) <= half + 1e-9)
        wrong.append((np.abs(gap) > half) & (np.sign(gap) != np.sign(np.round(real, 9))))
    return PairsTally(float(np.mean(covered)), float(np.mean(wrong)))


def separations(world: RandomCheckWorld, seeds: int, score: str, *, quiet: bool = False) -> list[tuple[int, bool]]:
    found = []
    weights, values = world.weights[score], values_of(score)
    everywhere = np.full(world.runs, 50)
    for seed in tqdm(range(seeds), desc=f"n more, {score}", unit="check", disable=quiet or None):
        frame = world.frame(f"s{seed}")
        chances = draw(frame, everywhere, LEAST)
        sample = world.sample(frame, chances)
        now = estimates(sample, weights, values)
        ahead = [variances_ahead(sample, now, weights, run, 50, LEAST) for run in range(world.runs)]
        pairs = len(world.llm.importance)
        for a, b in combinations(range(world.runs), 2):
            gap = float(now.value[a] - now.value[b])
            if abs(gap) > NORMAL * np.sqrt(now.variance[a] + now.variance[b]):
                continue
            more = more_to_separate(gap, ahead[a], ahead[b], (50, 50), (pairs, pairs))
            if more is None:
                continue
            numbers = everywhere.copy()
            numbers[[a, b]] += more
            grown = world.sample(frame, draw(frame, numbers, LEAST, before=chances > 0))
            then = estimates(grown, weights, values)
            apart = abs(then.value[a] - then.value[b]) > NORMAL * np.sqrt(then.variance[a] + then.variance[b])
            found.append((more, bool(apart)))
    return found


def new_topics(world: RandomCheckWorld, seeds: int, *, quiet: bool = False) -> tuple[float, float]:
    """Share of draws of topics whose interval for topics like these, and for these, covers the score of all."""
    random = np.random.default_rng(0)
    truth = world.people_scores[0]
    wide, narrow = [], []
    for seed in tqdm(range(seeds), desc="new topics", unit="check", disable=quiet or None):
        topics = random.integers(0, len(world.llm.topic_ids), len(world.llm.topic_ids))
        other = world.of_topics(topics)
        other, sample = drawn(other, 50)(seed)
        weights, values = other.weights["vital_strict"], values_of("vital_strict")
        found = estimates(sample, weights, values)
        half = topic_estimates(sample, found, weights, values, other.counted).half_width
        wide.append(np.abs(found.value - truth) <= half)
        low, high = found.interval
        narrow.append((low <= truth) & (truth <= high))
    return float(np.mean(wide)), float(np.mean(narrow))


def frequencies(world: RandomCheckWorld, seeds: int) -> tuple[float, float]:
    """Largest distance of how often a pair is drawn from its stored pi; in all strata, and where 20 are drawn."""
    count = np.zeros(len(world.run))
    stored = np.zeros(len(world.run))
    for seed in tqdm(range(seeds), desc="frequencies", unit="check", disable=None):
        frame = world.frame(f"s{seed}")
        chances = draw(frame, np.full(world.runs, 50), LEAST)
        count += chances > 0
        stored = np.maximum(stored, chances)
    far = np.abs(count / seeds - stored)
    sizes = np.bincount(frame.stratum, chances > 0)[frame.stratum]
    seen = stored > 0
    return float(far[seen].max()), float(far[seen & (sizes >= 20)].max())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m loadtest.random_checks", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=400)
    options = parser.parse_args()
    world, seeds = list_qa(options.folder), options.seeds
    worlds = {
        "as they are": (world, (25, 50, 100, 200)),
        "one run turned round": (turned_round(world, 0), (50,)),
        "its okay nuggets": (turned_round(world, 0, okay_only=True), (50,)),
        "shuffled": (shuffled_labels(world), (50, 200)),
    }
    for name, (planted, numbers) in worlds.items():
        for number in numbers:
            found = tally(drawn(planted, number), seeds, what=f"{name}, {number}")
            print(f"{name}, {number}: coverage {_row(found.coverage)} worst run {found.worst_run:.3f}")
            print(f"  error {_row(found.errors)} width {_row(found.width.mean(axis=(0, 2)))}")
            print(f"  coverage of the first run {_row(found.covered[:, :, 0].mean(axis=0))}")
            print(f"  differences {pairs_tally(planted, found)}")
    planted = turned_round(world, 0, okay_only=True)
    plain = [plainly_covered(planted, 50, seeds, 0, name) for name in SCORE_NAMES]
    print(f"plain, its okay nuggets: that run {_row(np.array(plain))}")
    cases = [
        case for score in ("vital_strict", "all_strict") for case in separations(world, max(1, seeds // 5), score)
    ]
    more = np.array([number for number, _ in cases])
    print(
        f"n more: {len(cases)} cases, median {np.median(more)}, apart {np.mean([apart for _, apart in cases]):.3f}"
    )
    print(f"new topics, and these read as new: {new_topics(world, seeds)}")
    print(f"frequencies less pi: {frequencies(world, 10 * seeds)}")


def _row(figures: Floats) -> str:
    return " ".join(f"{figure:.3f}" for figure in figures)


if __name__ == "__main__":
    main()
