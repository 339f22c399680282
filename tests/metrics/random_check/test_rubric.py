"""Random checks of a rubric: criteria below 0 are drawn, counted and estimated with their sign."""

from dataclasses import replace

import numpy as np
import pytest

from reports.metrics.label_matrix import AssignmentSheet
from reports.metrics.policies import Policies
from reports.metrics.random_check.draw import RandomCheckFrame, draw
from reports.metrics.random_check.estimate import RandomCheckSample, estimates, people_only
from reports.metrics.random_check.weights import drawable_sizes, nugget_weights, rubric_sizes, values_of
from reports.metrics.registry import Profile
from reports.metrics.scores import run_scores
from tests.metrics.sheet_makers import assignment_sheet

POLICIES = Policies(profile=Profile.RUBRIC)
SCORES = ("rubric", "rubric_strict")
TOPICS, CRITERIA, RUNS = 12, 20, 4
SEEDS = 60


def world() -> tuple[AssignmentSheet, AssignmentSheet]:
    """Labels of people, and of an LLM that sees every second thing that must not be said where there is none."""
    random = np.random.default_rng(7)
    below = np.tile(np.arange(CRITERIA) % 5 == 4, TOPICS)[:, np.newaxis]
    weight = np.where(below, -1, 1)[:, 0] * random.integers(1, 6, TOPICS * CRITERIA)
    often = np.where(below, 0.15, np.linspace(0.3, 0.7, RUNS))
    people = np.where(random.random(often.shape) < often, 2, random.integers(0, 2, often.shape))
    leans = random.random(people.shape) < np.where(below, 0.5, 0.05)
    llm = np.where(leans, 2, people)
    sheet = assignment_sheet(["o" * CRITERIA] * TOPICS, people.tolist(), weight=weight.tolist())
    return replace(sheet, labels=llm.astype(np.int8)), sheet


def flat(cells: np.ndarray) -> np.ndarray:
    return cells.T.reshape(-1)


def frame_of(llm: AssignmentSheet, seed: int) -> RandomCheckFrame:
    run = np.repeat(np.arange(RUNS), TOPICS * CRITERIA)
    return RandomCheckFrame(
        run=run,
        label=flat(llm.labels).astype(np.int64),
        block=np.zeros(len(run), dtype=np.int64),
        size=drawable_sizes(run, flat(rubric_sizes(llm))),
        order=np.random.default_rng(seed).uniform(1e-9, 1, len(run)),
        runs=RUNS,
    )


def sample_of(frame: RandomCheckFrame, people: AssignmentSheet, number: int) -> RandomCheckSample:
    chances = draw(frame, np.full(RUNS, number), 5)
    shares = np.where((chances > 0)[:, np.newaxis], np.eye(3)[flat(people.labels)], 0.0)
    return RandomCheckSample(frame, chances, shares, np.tile(people.nugget_topic, RUNS))


@pytest.mark.parametrize("score", SCORES)
def test_every_pair_judged_is_the_score_of_people(score: str) -> None:
    llm, people = world()
    weights = flat(nugget_weights(llm, POLICIES)[score].weights)
    sample = sample_of(frame_of(llm, 0), people, TOPICS * CRITERIA)
    found = estimates(sample, weights, values_of(score))
    expected = run_scores(people, POLICIES).of(score)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert people_only(sample, weights, values_of(score))[0] == pytest.approx(expected, abs=1e-12)
    assert found.variance == pytest.approx(np.zeros(RUNS), abs=1e-12)


@pytest.mark.parametrize("score", SCORES)
def test_intervals_hold_where_the_llm_errs_below_zero(score: str) -> None:
    llm, people = world()
    weights = flat(nugget_weights(llm, POLICIES)[score].weights)
    truth, machine = run_scores(people, POLICIES).of(score), run_scores(llm, POLICIES).of(score)
    inside, errors = [], []
    for seed in range(SEEDS):
        found = estimates(sample_of(frame_of(llm, seed), people, 60), weights, values_of(score))
        inside.append((found.interval[0] <= truth) & (truth <= found.interval[1]))
        errors.append(np.abs(found.value - truth))
    assert np.mean(inside) >= 0.93
    assert np.mean(errors) < np.abs(machine - truth).mean() / 2


def test_the_least_and_the_most_are_what_unknown_labels_leave_open() -> None:
    llm, people = world()
    weights = flat(nugget_weights(llm, POLICIES)["rubric"].weights)
    sample = sample_of(frame_of(llm, 1), people, 60)
    found = estimates(sample, weights, values_of("rubric"))
    known = np.where(sample.judged, flat(people.labels) / 2, np.nan)
    worst, best = np.where(np.isnan(known), weights < 0, known), np.where(np.isnan(known), weights > 0, known)
    runs = sample.frame.run
    assert found.least == pytest.approx(np.bincount(runs, weights * worst))
    assert found.most == pytest.approx(np.bincount(runs, weights * best))
