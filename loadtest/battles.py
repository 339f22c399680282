"""Judge made battles of the list-QA study many times; how often intervals hold: `python -m loadtest.battles FOLDER`.

FOLDER is that study's (`runs`, `nuggets`, `assignments`). An answer is worth 4 times its all-strict score, by people's
labels or by the LLM's, and a normal of its own, most of which people and the LLM share. The left answer wins where it
is worth more by .4 than the right one, with logistic noise.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from evaluation.rules.battles import DrawnBattle, deal, new_terms, people_sample
from loadtest.random_checks import RandomCheckWorld, list_qa
from reports.metrics.agreement import score_table
from reports.metrics.arrays import Counts, Floats
from reports.metrics.battles.corrected import BattleSample, corrected_rates
from reports.metrics.battles.ratings import MIDDLE, SCALE, SINGULAR, opponents, ratings
from reports.metrics.battles.sheet import BattleSheet
from reports.metrics.battles.win_rates import differences, win_rates
from reports.metrics.policies import Policies
from reports.metrics.random_check.estimate import NORMAL

WORTH, OWN, SHARED, TIE = 4.0, 0.6, 0.7, 0.4
SCORE = "all_strict"
QUADRATURE = 40
PEOPLE = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float64)


@dataclass(frozen=True)
class BattleWorld:
    """Runs that people and an LLM compare, by the scores that each gives their answers, T x R."""

    run_ids: tuple[str, ...]
    topic_ids: tuple[str, ...]
    people: Floats
    llm: Floats

    @cached_property
    def answered(self) -> set[tuple[str, str]]:
        return {(topic, run) for topic in self.topic_ids for run in self.run_ids}

    @property
    def expected(self) -> BattleSheet:
        """All battles by the points that they have on average."""
        pairs = list(combinations(range(len(self.run_ids)), 2))
        topic = np.repeat(np.arange(len(self.topic_ids)), len(pairs))
        first, second = np.tile(np.array(pairs).T, len(self.topic_ids))
        nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE)
        gap = WORTH * (self.people[topic, first] - self.people[topic, second])
        worth = gap[:, np.newaxis] + np.sqrt(2) * OWN * nodes
        won, lost = (1 / (1 + np.exp(TIE - side)) for side in (worth, -worth))
        points = (1 + won - lost) / 2 @ (weights / weights.sum())
        return _sheet(self.run_ids, topic, first, second, points)

    def of_topics(self, topics: Counts) -> "BattleWorld":
        ids = tuple(f"t{place}" for place in range(len(topics)))
        return BattleWorld(self.run_ids, ids, self.people[topics], self.llm[topics])

    def battles(self, seed: str, rounds: int) -> list[DrawnBattle]:
        terms = new_terms(seed, self.run_ids, self.topic_ids, rounds, "zero")
        return deal(terms, self.answered)

    def judged(self, seed: int, rounds: int, number: int) -> tuple[BattleSample, Floats]:
        """Return a sample, and people's points in all battles, N."""
        random, names = np.random.default_rng(seed), f"s{seed}"
        battles = self.battles(names, rounds)
        topic, first, second = np.array(
            [(self.topic_ids.index(row.topic), *sorted(map(self.run_ids.index, row.runs))) for row in battles]
        ).T
        own, noise = random.standard_normal((2, *self.people.shape)), random.logistic(size=(2, len(topic)))
        for of_both in (own, noise):
            of_both[1] = SHARED * of_both[0] + np.sqrt(1 - SHARED**2) * of_both[1]
        worths = WORTH * np.array([self.people, self.llm]) + OWN * own
        by_people, by_llm = (
            _points(worth[topic, first] - worth[topic, second] + chance)
            for worth, chance in zip(worths, noise, strict=True)
        )
        chances = self._chances(names, battles, by_llm, number)
        shares = np.where((chances > 0)[:, np.newaxis], PEOPLE[(2 * by_people).astype(np.int64)], 0.0)
        size = len(topic)
        sample = BattleSample(
            run_ids=self.run_ids,
            topic_ids=self.topic_ids,
            topic=topic.astype(np.int32),
            first=first.astype(np.int32),
            second=second.astype(np.int32),
            llm=by_llm,
            block=np.zeros(size, dtype=np.int64),
            chances=chances,
            people=shares,
            by_rule=np.zeros(size, dtype=np.bool_),
        )
        return sample, by_people

    def _chances(self, seed: str, battles: list[DrawnBattle], points: Floats, number: int) -> Floats:
        place = {battle: at for at, battle in enumerate(battles)}
        classes = {
            tied: [battle for battle in battles if (points[place[battle]] == 0.5) is tied]
            for tied in (np.False_, np.True_)
        }
        chances = np.zeros(len(battles))
        for name, drawn in people_sample(seed, classes, number, {}).items():
            for battle in drawn:
                chances[place[battle]] = len(drawn) / len(classes[name])
        return chances


@dataclass(frozen=True)
class CorrectedTally:
    """Results of K samples: errors K x R of each kind, and what intervals hold: K x R, and of differences K x D."""

    llm: Floats
    people: Floats
    corrected: Floats
    covered: Floats
    apart: Floats
    unshared: Floats

    def __str__(self) -> str:
        errors = (f"{name} {rms(getattr(self, name)):.4f}" for name in ("llm", "people", "corrected"))
        held = f"{self.covered.mean():.3f}, of differences {self.apart.mean():.3f}"
        return f"error: {', '.join(errors)}; holds {held} (without what is shared {self.unshared.mean():.3f})"


def corrected_tally(
    world: BattleWorld, *, rounds: int, number: int, seeds: int, quiet: bool = False
) -> CorrectedTally:
    rows = list(_corrected(world, rounds, number, seeds, quiet))
    return CorrectedTally(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


def _corrected(
    world: BattleWorld, rounds: int, number: int, seeds: int, quiet: bool
) -> Iterator[tuple[Floats, ...]]:
    runs = range(len(world.run_ids))
    pairs = list(combinations(runs, 2))
    for seed in tqdm(
        range(seeds), desc=f"{rounds} rounds, {number} by people", unit="sample", disable=quiet or None
    ):
        sample, by_people = world.judged(seed, rounds, number)
        truth = rates_of(sample, by_people)
        found = corrected_rates(sample)
        inside = [_holds(found.interval(run).ends, truth[run]) for run in runs]
        gaps = {(gap.a, gap.b): gap for gap in found.differences(list(runs))}
        true_gaps = np.array([truth[a] - truth[b] for a, b in pairs])
        held = [_holds(gaps[pair].interval.ends, gap) for pair, gap in zip(pairs, true_gaps, strict=True)]
        value = np.array([gaps[pair].value for pair in pairs])
        sd = np.sqrt([found.run_estimates.variance[list(pair)].sum() for pair in pairs])
        yield (
            rates_of(sample, sample.llm) - truth,
            win_rates(sample.people_sheet).value - truth,
            found.value - truth,
            np.array(inside),
            np.array(held),
            np.abs(value - true_gaps) <= NORMAL * sd,
        )


@dataclass(frozen=True)
class IntervalTally:
    """What intervals hold over K draws of topics: K x R, of differences K x D; `plain`: ratings with battles apart."""

    rates: Floats
    apart: Floats
    ratings: Floats
    plain: Floats

    def __str__(self) -> str:
        held = (f"{name} {getattr(self, name).mean():.3f}" for name in ("rates", "apart", "ratings", "plain"))
        return f"holds: {', '.join(held)}"


def interval_tally(world: BattleWorld, *, rounds: int, seeds: int, quiet: bool = False) -> IntervalTally:
    rows = list(_intervals(world, rounds, seeds, quiet))
    return IntervalTally(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


def _intervals(world: BattleWorld, rounds: int, seeds: int, quiet: bool) -> Iterator[tuple[Floats, ...]]:
    runs = list(range(len(world.run_ids)))
    expected = world.expected
    truth, true_ratings = win_rates(expected).value, ratings(expected).value
    for seed in tqdm(range(seeds), desc=f"{rounds} rounds, topics anew", unit="draw", disable=quiet or None):
        topics = np.random.default_rng(seed).integers(0, len(world.topic_ids), len(world.topic_ids))
        sample, points = world.of_topics(topics).judged(seed, rounds, 1)
        sheet = _sheet(world.run_ids, sample.topic, sample.first, sample.second, points)
        rates, rated = win_rates(sheet), ratings(sheet)
        gaps = differences(rates, runs)
        half = NORMAL * _plain_sd(sheet, rated.value)
        yield (
            np.array([_holds(rates.interval(run).ends, truth[run]) for run in runs]),
            np.array([_holds(gap.interval.ends, truth[gap.a] - truth[gap.b]) for gap in gaps]),
            np.array([_holds(rated.intervals[run].ends, true_ratings[run]) for run in runs]),
            np.array(np.abs(rated.value - true_ratings) <= half, dtype=np.float64),
        )


def _plain_sd(sheet: BattleSheet, rating: Floats) -> Floats:
    """Standard deviations of ratings as if battles were independent, as arena-rank has them."""
    design = opponents(sheet, np.arange(len(rating)))
    chance = 1 / (1 + np.exp(-design.logits((rating - MIDDLE) / SCALE)))
    information = design.information(chance * (1 - chance))
    deviations: Floats = SCALE * np.sqrt(np.diag(np.linalg.pinv(information, rcond=SINGULAR, hermitian=True)))
    return deviations


Places = NDArray[np.integer]


def _sheet(run_ids: tuple[str, ...], topic: Places, first: Places, second: Places, points: Floats) -> BattleSheet:
    size, topics = len(topic), int(topic.max()) + 1
    return BattleSheet(
        run_ids=run_ids,
        topic_ids=tuple(map(str, range(topics))),
        topic=topic.astype(np.int32),
        first=first.astype(np.int32),
        second=second.astype(np.int32),
        points=points,
        lengths=np.full(size, np.nan),
        bad=np.zeros(size, dtype=np.bool_),
        split=np.zeros(size, dtype=np.bool_),
    )


def _points(gap: Floats) -> Floats:
    points: Floats = (1 + (gap > TIE) - 1.0 * (gap < -TIE)) / 2
    return points


def rates_of(sample: BattleSample, points: Floats) -> Floats:
    runs = np.concatenate([sample.first, sample.second])
    rates: Floats = np.bincount(runs, np.concatenate([points, 1 - points])) / np.bincount(runs)
    return rates


def _holds(ends: tuple[float, float] | None, value: float) -> bool:
    return ends is not None and ends[0] - 1e-12 <= value <= ends[1] + 1e-12


def rms(errors: Floats) -> float:
    return float(np.sqrt((errors**2).mean()))


def world_of(study: RandomCheckWorld) -> BattleWorld:
    people, llm = (score_table(sheet, SCORE, Policies()).values for sheet in (study.people, study.llm))
    return BattleWorld(study.llm.run_ids, study.llm.topic_ids, people, llm)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m loadtest.battles", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=200)
    options = parser.parse_args()
    world = world_of(list_qa(options.folder))
    for rounds in (2, 6):
        print(f"{rounds} rounds: {interval_tally(world, rounds=rounds, seeds=2 * options.seeds)}")
    for rounds, numbers in ((2, (75, 150, 220)), (6, (100, 200, 400))):
        for number in numbers:
            tally = corrected_tally(world, rounds=rounds, number=number, seeds=options.seeds)
            print(f"{rounds} rounds, {number} by people: {tally}")


if __name__ == "__main__":
    main()
