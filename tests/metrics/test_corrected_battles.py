"""Corrected win rates of made battles, judged many times: `python -m loadtest.battles` does the full number."""

from dataclasses import replace
from itertools import combinations
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from evaluation.rules.battles import DrawnBattle, people_sample
from loadtest.battles import BattleWorld, corrected_tally, rates_of, rms, world_of
from loadtest.random_checks import list_qa
from reports.metrics.battles.corrected import BattleSample, corrected_rates
from reports.metrics.battles.win_rates import win_rates

SEEDS = 30
PAIRS = tuple(combinations(range(3), 2))


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


def made(battles: list[tuple[int, int, int]]) -> BattleSample:
    """Battles by topic and both runs; a machine says little of them, and people judge every other one."""
    topic, first, second = np.array(battles, dtype=np.int32).T
    drawn = np.arange(len(battles)) % 2 == 0
    people = np.zeros((len(battles), 3))
    people[drawn, np.arange(int(drawn.sum())) % 3] = 1.0
    return BattleSample(
        run_ids=("a", "b", "c"),
        topic_ids=tuple(f"t{number}" for number in range(int(topic.max()) + 1)),
        topic=topic,
        first=first,
        second=second,
        llm=np.arange(len(battles)) % 3 / 2,
        block=np.zeros(len(battles), dtype=np.int64),
        chances=drawn / 2,
        people=people,
        by_rule=np.zeros(len(battles), dtype=np.bool_),
    )


def test_few_topics_have_the_interval_that_is_asked_for() -> None:
    rates = corrected_rates(made([(topic, *pair) for topic in range(4) for pair in PAIRS]), new_topics=True)
    topics = rates.topic_rates
    assert topics is not None
    for run in range(3):
        low, high = rates.interval(run).ends or (nan, nan)
        reach = t.ppf(0.975, 3) * np.sqrt(topics.variance[run])
        assert (low, high) == pytest.approx((max(rates.value[run] - reach, 0), min(rates.value[run] + reach, 1)))
    assert all(gap.interval.ends is None and isnan(gap.p) for gap in rates.differences(range(3)))
    assert all(gap.interval.ends for gap in rates.differences(range(3), 4))


@pytest.mark.parametrize("more", [[], [(0, 1, 2)]], ids=["none", "one"])
def test_runs_without_topics_in_common_have_no_interval_for_new_topics(more: list[tuple[int, int, int]]) -> None:
    battles = [(topic, 0, 2) for topic in range(6)] * 2 + [(topic, 1, 2) for topic in range(6, 12)] * 2
    rates = corrected_rates(made(battles + more), new_topics=True)
    apart, *others = rates.differences(range(3), 2)
    assert (apart.a, apart.b, apart.value) == (0, 1, rates.value[0] - rates.value[1])
    assert (apart.interval.reason, isnan(apart.p), isnan(apart.holm)) == ("too few topics", True, True)
    assert all(gap.interval.ends and 0 <= gap.p <= gap.holm <= 1 for gap in others)
