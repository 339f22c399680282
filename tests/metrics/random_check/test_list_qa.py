"""The list-QA study audited many times, few seeds: `python -m loadtest.random_checks` draws the full number."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from loadtest.random_checks import (
    RandomCheckWorld,
    all_estimates,
    drawn,
    flat,
    list_qa,
    new_topics,
    pairs_tally,
    plainly_covered,
    separations,
    shuffled_labels,
    tally,
    turned_round,
)
from reports.metrics.policies import Policies
from reports.metrics.random_check.draw import KNOWN, draw
from reports.metrics.random_check.estimate import RandomCheckSample, tau_with
from reports.metrics.scores import SCORE_NAMES, run_scores

SEEDS = 30


@pytest.fixture(scope="module")
def world(shared_data: Path) -> RandomCheckWorld:
    """Labels of an LLM and of the authors on 2,520 pairs."""
    return list_qa(shared_data / "qampari-list-qa")


def test_all_judged_is_the_score_of_people_without_a_width(world: RandomCheckWorld) -> None:
    frame = world.frame("s")
    sample = world.sample(frame, draw(frame, np.full(7, 360), 5))
    people = run_scores(world.people, Policies()).means
    for found, expected in zip(all_estimates(world, sample), people, strict=True):
        assert found.value == pytest.approx(expected, abs=1e-12)
        assert (found.interval[1] - found.interval[0]).max() < 1e-12
        assert tau_with(expected, found.value.round(12), found.sd) == pytest.approx((1, 1, 1))


def test_the_llm_and_people_have_the_published_means(world: RandomCheckWorld) -> None:
    place = SCORE_NAMES.index("all_strict")
    machine = run_scores(world.llm, Policies()).means[place]
    assert machine == pytest.approx([0.3366, 0.2727, 0.1496, 0.2602, 0.3606, 0.3600, 0.4368], abs=5e-5)
    people = [0.4326, 0.2906, 0.1524, 0.2955, 0.3900, 0.4387, 0.4881]
    assert world.people_scores[place] == pytest.approx(people, abs=5e-5)


def test_fifty_grown_to_a_hundred_is_a_hundred_at_once(world: RandomCheckWorld) -> None:
    for seed in range(SEEDS):
        frame = world.frame(f"s{seed}")
        few = draw(frame, np.full(7, 50), 5)
        grown, at_once = draw(frame, np.full(7, 100), 5, before=few > 0), draw(frame, np.full(7, 100), 5)
        assert (grown == at_once).all()
        assert (grown[few > 0] > 0).all()


def test_intervals_hold_and_errors_are_small(world: RandomCheckWorld) -> None:
    for number, coverage, error in ((25, 0.98, 0.038), (50, 0.97, 0.025), (100, 0.94, 0.016), (200, 0.92, 0.009)):
        found = tally(drawn(world, number), SEEDS, quiet=True)
        assert found.coverage.min() >= coverage
        assert found.errors.max() <= error
        pairs = pairs_tally(world, found)
        assert pairs.covered >= 0.96
        assert pairs.wrong_way <= 0.004


def test_they_hold_where_the_llm_errs_on_one_run(world: RandomCheckWorld) -> None:
    for okay_only in (False, True):
        planted = turned_round(world, 0, okay_only=okay_only)
        found = tally(drawn(planted, 50), SEEDS, quiet=True)
        assert found.coverage.min() >= 0.95
        assert found.errors.max() <= 0.033
    # Without weights and sizes they do not: so the fault is one that bites.
    assert plainly_covered(planted, 50, SEEDS, 0, "vital_strict") < 0.5


def test_they_hold_where_labels_mean_nothing(world: RandomCheckWorld) -> None:
    for number in (50, 200):
        assert tally(drawn(shuffled_labels(world), number), SEEDS, quiet=True).coverage.min() >= 0.9


def test_they_hold_beside_eighty_known_disagreements(world: RandomCheckWorld) -> None:
    """As known pairs they say nothing about the others: all intervals hold, and errors are smaller than without."""
    differing = np.flatnonzero(flat(world.llm.labels) != flat(world.people.labels))
    assert len(differing) == 161

    def make(seed: int) -> tuple[RandomCheckWorld, RandomCheckSample]:
        known = np.random.default_rng(seed).choice(differing, 80, replace=False)
        frame = world.frame(f"s{seed}")
        label = frame.label.copy()
        label[known] = KNOWN
        marked = replace(frame, label=label)
        return world, world.sample(marked, draw(marked, np.full(world.runs, 50), 5))

    found = tally(make, SEEDS, quiet=True)
    assert found.coverage.min() >= 0.98
    assert found.errors.max() <= 0.018


def test_n_more_tells_most_runs_apart(world: RandomCheckWorld) -> None:
    cases = separations(world, 8, "vital_strict", quiet=True) + separations(world, 8, "all_strict", quiet=True)
    assert len(cases) > 50
    assert np.mean([apart for _, apart in cases]) >= 0.7


def test_other_topics_need_the_wider_interval(world: RandomCheckWorld) -> None:
    wide, narrow = new_topics(world, SEEDS, quiet=True)
    assert wide >= 0.88
    assert narrow <= 0.8
