"""Intervals where a sentence with two citations is drawn as one: precision by their mean, recall by the better."""

import numpy as np
import pytest

from reports.metrics.arrays import Counts, Floats
from reports.metrics.label_matrix import CITATION_POINTS
from reports.metrics.random_check.draw import RandomCheckFrame, draw
from reports.metrics.random_check.estimate import RandomCheckSample, estimates
from reports.metrics.random_check.weights import lenient_values

SENTENCES, TOPICS, DRAWS = 320, 40, 150
AGREEMENT = 0.69
"""Of the LLM with people: as on the track's citations."""


def made_labels() -> tuple[Counts, Counts]:
    """Labels of two citations of each sentence, by an LLM that is off by .06, and by people."""
    noise = np.random.default_rng(1)
    machine = noise.choice(3, (SENTENCES, 2), p=[0.25, 0.25, 0.5])
    others = noise.choice(3, (SENTENCES, 2), p=[0.45, 0.3, 0.25])
    return machine, np.where(noise.random((SENTENCES, 2)) < AGREEMENT, machine, others)


@pytest.mark.parametrize(("number", "error"), [(50, 0.045), (100, 0.03), (200, 0.017)])
@pytest.mark.parametrize("score", ["precision", "recall"])
def test_intervals_of_sentences_cover_people(number: int, error: float, score: str) -> None:
    machine, people = made_labels()
    topic = np.sort(np.random.default_rng(2).integers(0, TOPICS, SENTENCES))
    weights: Floats = 1 / (TOPICS * np.bincount(topic, minlength=TOPICS)[topic])
    mean = np.stack([(people == label).mean(axis=1) for label in range(3)], axis=1)
    shares = mean if score == "precision" else np.eye(3)[people.max(axis=1)]
    truth, noise = float(weights @ shares @ lenient_values(CITATION_POINTS)), np.random.default_rng(3)
    found = []
    for _ in range(DRAWS):
        nothing = np.zeros(SENTENCES, dtype=np.int64)
        frame = RandomCheckFrame(nothing, machine.max(axis=1), nothing, weights, noise.random(SENTENCES), 1)
        chances = draw(frame, np.array([number]), least=5)
        sample = RandomCheckSample(frame, chances, np.where((chances > 0)[:, np.newaxis], shares, 0.0), topic)
        estimate = estimates(sample, weights, lenient_values(CITATION_POINTS))
        low, high = estimate.interval
        found.append((float(estimate.value[0]) - truth, bool(low[0] <= truth <= high[0])))
    errors, covered = np.array(found).T
    assert np.sqrt((errors**2).mean()) < error
    assert covered.mean() >= 0.92
