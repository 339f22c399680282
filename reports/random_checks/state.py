"""A random check as it is now: its frame, today's population, the labels by people, and its pairs label by label."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from evaluation.labels import NO_LABEL
from evaluation.models import Study
from reports.metrics.arrays import Booleans, Counts, Floats
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.random_check.draw import KNOWN
from reports.metrics.random_check.estimate import RandomCheckSample
from reports.metrics.registry import BY_NAME
from reports.random_checks.drawing import frame_arrays
from reports.random_checks.frame import (
    GivenLabels,
    StoredFrame,
    current_labels,
    people_judgments,
    people_of,
    stored_frame,
)
from reports.random_checks.population import Population, population_of, refuse_other_draw
from web.consistent_read import consistent_read


@dataclass(frozen=True)
class RandomCheckState:
    """A random check as it is now: its frame, today's population, and the labels by people.

    `place` N, where a stored unit is in the population, -1 for one that no list or answer has any more; `best`, each
    label's share as `sample` has it, but of the best citation of a sentence.
    """

    study: Study
    policies: Policies | SupportPolicies
    frame: StoredFrame
    population: Population
    labels: GivenLabels
    place: Counts
    sample: RandomCheckSample
    best: Floats
    refused: Booleans

    def sample_for(self, score: str) -> RandomCheckSample:
        # Of a sentence drawn whole recall takes the best label, precision the mean of its citations.
        return replace(self.sample, shares=self.best) if BY_NAME[score].part == "recall" else self.sample

    @property
    def present(self) -> Booleans:
        return self.place >= 0

    @cached_property
    def run(self) -> Counts:
        """Run of each pair that is still there, as `sample` has them."""
        return self.sample.frame.run

    def count(self, pairs: Booleans) -> Counts:
        return np.bincount(self.run[pairs], minlength=len(self.population.run_ids))

    @property
    def drawn(self) -> Booleans:
        drawn: Booleans = (self.sample.chances > 0) & (self.sample.frame.label != KNOWN)
        return drawn

    @property
    def finished(self) -> Booleans:
        """Runs of which every drawn pair is judged or refused, R."""
        finished: Booleans = self.count(self.drawn & ~self.sample.judged & ~self.refused) == 0
        return finished

    @property
    def outside(self) -> Counts:
        """Pairs of each run that came after the draw, R."""
        unit = self.population.unit
        units = unit[self.frame.outside(self.population)[unit]]
        return np.bincount(self.population.run[units], minlength=len(self.population.run_ids))

    @property
    def stale(self) -> Counts:
        """Pairs of each run whose LLM label is another by now, R."""
        there = self.place[self.present]
        return self.count(self.population.label[there] != self.frame.judge_label[self.present])

    def weights(self, score: str) -> Floats:
        return self.population.weights[score][self.place[self.present]]


def random_check_state(study: Study, policies: Policies | SupportPolicies) -> RandomCheckState:
    """Read a random check. Raises `Refused` for a measure or scores that it was not drawn for."""
    refuse_other_draw(study, policies)
    with consistent_read() as alias:
        frame, population = stored_frame(study, alias), population_of(study, policies)
        labels = current_labels(study, people_of(study), alias)
        people = people_judgments(study, frame, labels, alias)
    place = frame.places_in(population)
    there = place >= 0
    kept = replace(
        frame,
        **{name: getattr(frame, name)[there] for name in ("judge_label", "block", "place", "known")},
        # A weight may have turned since the draw: a stratum of both signs would have no rate.
        size=np.copysign(frame.size[there], population.size[place[there]]),
    )
    arrays = frame_arrays(kept, population.run[place[there]], len(population.run_ids))
    sample = RandomCheckSample(arrays, frame.chance[there], people.mean[there], population.topic[place[there]])
    best, refused = people.best[there], people.refused[there]
    return RandomCheckState(study, policies, frame, population, labels, place, sample, best, refused)


@dataclass(frozen=True, slots=True)
class CheckedLabelRow:
    """A run's pairs of one LLM label, `label` its code, NO_LABEL or KNOWN.

    `right`: how many judged pairs people gave that label too, half a pair where two differ; None without a label.
    """

    run_id: str
    label: int
    pairs: int
    drawn: int
    judged: int
    refused: int
    right: float | None

    @property
    def left(self) -> int:
        return self.drawn - self.judged - self.refused

    @property
    def known(self) -> bool:
        return self.label == KNOWN

    @property
    def labelled(self) -> bool:
        return self.label < NO_LABEL


def label_rows(state: RandomCheckState) -> list[CheckedLabelRow]:
    sample, labels = state.sample, state.frame.judge_label[state.present]
    codes = {place: int(label.code) for place, label in enumerate(state.frame.labels.ascending)}
    in_scale = np.minimum(labels, len(codes) - 1)
    agreeing = np.where(labels < NO_LABEL, state.best[np.arange(len(labels)), in_scale], 0.0)
    in_sample, rows = sample.chances > 0, []
    for run, label in product(range(len(state.population.run_ids)), (*codes, NO_LABEL, KNOWN)):
        mine = (state.run == run) & (sample.frame.label == label)
        if mine.any():
            judged = mine & in_sample & sample.judged
            rows.append(
                CheckedLabelRow(
                    run_id=state.population.run_ids[run],
                    label=codes.get(label, label),
                    pairs=int(mine.sum()),
                    drawn=int((mine & in_sample).sum()),
                    judged=int(judged.sum()),
                    refused=int((mine & in_sample & state.refused).sum()),
                    right=None if label == NO_LABEL else float(agreeing[judged].sum()),
                )
            )
    return rows
