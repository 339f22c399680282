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
from tqdm import tqdm

from evaluation.rules.battles import DrawnBattle, deal, new_terms, people_sample
from loadtest.random_checks import RandomCheckWorld, list_qa
from reports.metrics.agreement import score_table
from reports.metrics.arrays import Floats
from reports.metrics.battles.corrected import BattleSample, corrected_rates
from reports.metrics.battles.win_rates import win_rates
from reports.metrics.policies import Policies

WORTH, OWN, SHARED, TIE = 4.0, 0.6, 0.7, 0.4
SCORE = "all_strict"
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
            np.abs(value - true_gaps) <= 1.959964 * sd,
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
    for rounds, numbers in ((2, (75, 150, 220)), (6, (100, 200, 400))):
        for number in numbers:
            tally = corrected_tally(world, rounds=rounds, number=number, seeds=options.seeds)
            print(f"{rounds} rounds, {number} by people: {tally}")


if __name__ == "__main__":
    main()
