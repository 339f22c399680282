"""A trial of prompts in figures: how each agrees with the people who labelled the same pairs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from accounts.models import User
from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import Campaign
from llmjobs.models import Trial
from llmjobs.trial_pairs import ShownPair, shown_pairs
from llmjobs.trials import Tried, outcome_of
from reports.metrics.arrays import Bytes
from reports.metrics.confusion import Confusion, confusion
from reports.metrics.sheets import FAILED, UNJUDGED

LABELS_OF = {"assign": NUGGET_LABELS.scale, "support": CITATION_LABELS.scale, "importance": ("okay", "vital")}
"""The labels of each task in the order of their codes; those of relevance are the scale's."""


@dataclass(frozen=True, slots=True)
class TriedPrompt:
    """One prompt: `against` has its labels in rows and people's in columns."""

    tried: Tried
    against: Confusion
    failed: int

    @property
    def pending(self) -> int:
        """Number of pairs without a label yet."""
        return sum(code is None for code in self.tried.labels)

    @property
    def harsh(self) -> int:
        """Number of opposite pairs: the highest label against the lowest."""
        return int(self.against.counts[0][-1] + self.against.counts[-1][0])

    @property
    def rows(self) -> list[tuple[int, list[int]]]:
        """Labels of the prompt, each with the counts of people's labels."""
        return [(label, [int(n) for n in counts]) for label, counts in enumerate(self.against.counts)]


@dataclass(frozen=True, slots=True)
class TrialDifference:
    """A pair on which a prompt differs from people: their label, and that of each prompt."""

    pair: ShownPair | None
    people: int
    codes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class TrialReport:
    """A trial and its prompts, side by side, and the pairs on which any of them differs from people."""

    trial: Trial
    labels: tuple[str, ...]
    prompts: tuple[TriedPrompt, ...]
    differing: tuple[TrialDifference, ...]

    @property
    def what(self) -> str:
        return {"support": "sentence", "relevance": "segment"}.get(self.trial.task, "nugget")

    @property
    def of_answers(self) -> bool:
        """True for tasks about answers; others are about topics."""
        return self.trial.task in ("assign", "support")

    @property
    def simulated(self) -> bool:
        return any(one.tried.simulated for one in self.prompts)

    @property
    def moving(self) -> bool:
        return any(one.tried.llm.job.state == "running" for one in self.prompts)


def trial_report(viewer: User, campaign: Campaign, trial: Trial) -> TrialReport:
    """Agreement of each prompt with the labels that people had given when the pairs were drawn."""
    tried = outcome_of(trial)
    labels = LABELS_OF.get(trial.task) or _grades(tried)
    differing = _differing(shown_pairs(viewer, campaign, trial), tried)
    return TrialReport(trial, labels, tuple(_prompt(one, len(labels)) for one in tried), tuple(differing))


def _grades(tried: list[Tried]) -> tuple[str, ...]:
    """Return the grades of the scale that was in force when the pairs were drawn."""
    return tuple(f"grade {grade}" for grade in range(tried[0].top + 1))


def _differing(pairs: list[ShownPair | None], tried: list[Tried]) -> Iterator[TrialDifference]:
    for number, pair in enumerate(pairs):
        people = tried[0].people[number]
        codes = tuple(one.labels[number] for one in tried)
        if any(code not in (people, None) for code in codes):
            yield TrialDifference(pair, people, codes)


def _prompt(tried: Tried, labels: int) -> TriedPrompt:
    codes, people = _codes(tried.labels, labels), _codes(tried.people, labels)
    return TriedPrompt(tried, confusion(codes, people, labels), int((codes == FAILED).sum()))


def _codes(codes: tuple[int | None, ...], labels: int) -> Bytes:
    """Label codes of reports: a code outside the task's labels becomes negative."""
    known = [UNJUDGED if code is None else code if 0 <= code < labels else FAILED for code in codes]
    return np.array(known, dtype=np.int8)
