"""Corrected win rates of made battles, judged many times: `python -m loadtest.battles` does the full number."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluation.rules.battles import DrawnBattle, people_sample
from loadtest.battles import BattleWorld, corrected_tally, rates_of, rms, world_of
from loadtest.random_checks import list_qa
from reports.metrics.battles.corrected import corrected_rates
from reports.metrics.battles.win_rates import win_rates

SEEDS = 30


@pytest.fixture(scope="module")
def world(shared_data: Path) -> BattleWorld:
    return world_of(list_qa(shared_data / "qampari-list-qa"))


def test_errors_are_small_and_intervals_hold(world: BattleWorld) -> None:
    tally = corrected_tally(world, rounds=6, number=200, seeds=SEEDS, quiet=True)
    assert rms(tally.corrected) <= 0.046 < rms(tally.people)
    assert tally.covered.mean() >= 0.93
    assert tally.apart.mean() >= 0.92
    assert tally.unshared.mean() < tally.apart.mean()


def test_they_hold_where_the_llm_favours_a_run(world: BattleWorld) -> None:
    llm = world.llm.copy()
    llm[:, 0] += 0.5
    tally = corrected_tally(replace(world, llm=llm), rounds=6, number=200, seeds=SEEDS, quiet=True)
    assert rms(tally.llm) > 0.1
    assert rms(tally.corrected) <= 0.055
    assert tally.covered.mean() >= 0.92
    assert tally.covered[:, 0].mean() >= 0.88


def test_all_judged_is_what_people_say_without_a_width(world: BattleWorld) -> None:
    sample, by_people = world.judged(1, 2, 294)
    found = corrected_rates(sample)
    assert found.value == pytest.approx(rates_of(sample, by_people), abs=1e-12)
    for run in range(7):
        assert found.interval(run).ends == pytest.approx((found.value[run],) * 2, abs=1e-9)
    assert {gap.p for gap in found.differences(range(7))} <= {0.0, 1.0}


def test_what_nobody_can_judge_stays_unknown(world: BattleWorld) -> None:
    sample, _ = world.judged(1, 6, 200)
    people = sample.people.copy()
    refused = np.flatnonzero(sample.judged)[:10]
    people[refused] = 0.0
    fewer, all_of = corrected_rates(replace(sample, people=people)), corrected_rates(sample)
    assert (all_of.judged.sum() - fewer.judged.sum()) == 20
    assert fewer.run_estimates.sd.mean() > all_of.run_estimates.sd.mean()


def test_what_the_llm_fails_to_say_is_a_stratum_of_its_own(world: BattleWorld) -> None:
    sample, by_people = world.judged(1, 6, 200)
    llm = np.where(np.random.default_rng(1).random(len(sample.llm)) < 1 / 3, np.nan, sample.llm)
    found = corrected_rates(replace(sample, llm=llm))
    assert np.abs(found.value - rates_of(sample, by_people)).max() < 0.15
    assert len(found.run_estimates.rate) == 7 * 4
    none = corrected_rates(replace(sample, llm=np.full(len(llm), np.nan)))
    counts = np.bincount(np.concatenate([sample.first, sample.second])[np.tile(sample.judged, 2)])
    # Prior of 3/2 pairs, of points 1/2: nothing else is known of a run.
    plain = win_rates(sample.people_sheet).value
    assert none.run_estimates.rate == pytest.approx((plain * counts + 0.75) / (counts + 1.5), abs=0.02)


def test_topics_like_these_have_wider_intervals(world: BattleWorld) -> None:
    sample, _ = world.judged(1, 6, 200)
    narrow, wide = (corrected_rates(sample, new_topics=new) for new in (False, True))
    for run in range(7):
        (low, high), (lower, higher) = (of.interval(run).ends or (0.0, 0.0) for of in (narrow, wide))
        assert lower <= low <= high <= higher
    for gap, wider in zip(narrow.differences(range(7)), wide.differences(range(7)), strict=True):
        assert gap.value == wider.value
        assert wider.interval.ends is not None
        assert gap.interval.ends is not None
        assert wider.interval.ends[1] > gap.interval.ends[1]


def test_a_larger_sample_has_every_smaller_one_in_it() -> None:
    battles = [DrawnBattle(f"t{number}", "a", "b", 1) for number in range(90)]
    classes = {"decided": battles[:61], "failed": battles[61:68], "tied": battles[68:]}
    before: dict[str, list[DrawnBattle]] = {name: [] for name in classes}
    for number in range(1, 91):
        drawn = people_sample("seed", classes, number, {name: len(row) for name, row in before.items()})
        assert all(set(row) <= set(drawn[name]) for name, row in before.items())
        assert number <= sum(map(len, drawn.values())) <= number + 1
        before = drawn
    assert before == {name: before[name] for name in classes}
    assert {name: len(row) for name, row in before.items()} == {"decided": 61, "failed": 7, "tied": 22}
