"""A trial of prompts in figures: how each agrees with the people who labelled the same pairs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from accounts.models import User
from evaluation.models import Campaign
from llmjobs.models import Trial
from llmjobs.trial_pairs import ShownPair, shown_pairs
from llmjobs.trials import Tried, outcome_of
from reports.matched import ASSIGNMENT_LABELS, SUPPORT_LABELS
from reports.metrics.arrays import Bytes
from reports.metrics.confusion import LABELS, Confusion, confusion
from reports.metrics.sheets import FAILED, UNJUDGED


@dataclass(frozen=True, slots=True)
class TriedPrompt:
    """One prompt: `against` has its labels in rows and people's in columns."""

    tried: Tried
    against: Confusion
    failed: int

    @property
    def pending(self) -> int:
        """How many pairs it has said nothing of."""
        return sum(code is None for code in self.tried.said)

    @property
    def harsh(self) -> int:
        """How many pairs are opposites: full support for one and none for the other."""
        return int(self.against.counts[0][2] + self.against.counts[2][0])

    @property
    def rows(self) -> list[tuple[int, list[int]]]:
        """Each label of the prompt, and how often people gave which."""
        return [(label, [int(n) for n in self.against.counts[label]]) for label in range(LABELS)]


@dataclass(frozen=True, slots=True)
class Differing:
    """A pair on which a prompt differs from people: their label, and that of each prompt."""

    pair: ShownPair | None
    people: int
    said: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class TrialReport:
    """A trial and its prompts, side by side, and the pairs on which any of them differs from people."""

    trial: Trial
    labels: tuple[str, str, str]
    prompts: tuple[TriedPrompt, ...]
    differing: tuple[Differing, ...]

    @property
    def support(self) -> bool:
        """Say whether the labels are those of support."""
        return self.trial.task == "support"

    @property
    def simulated(self) -> bool:
        """Say whether it is the simulated LLM that answers."""
        return any(one.tried.simulated for one in self.prompts)

    @property
    def moving(self) -> bool:
        """Say whether a prompt is still being asked."""
        return any(one.tried.llm.job.state == "running" for one in self.prompts)


def trial_report(viewer: User, campaign: Campaign, trial: Trial) -> TrialReport:
    """Compare what each prompt said with what people had said when the pairs were drawn."""
    labels = ASSIGNMENT_LABELS if trial.task == "assign" else SUPPORT_LABELS
    tried = outcome_of(trial)
    differing = _differing(shown_pairs(viewer, campaign, trial), tried)
    return TrialReport(trial, labels, tuple(_prompt(one) for one in tried), tuple(differing))


def _differing(pairs: list[ShownPair | None], tried: list[Tried]) -> Iterator[Differing]:
    for number, pair in enumerate(pairs):
        people = tried[0].people[number]
        said = tuple(one.said[number] for one in tried)
        if any(code not in (people, None) for code in said):
            yield Differing(pair, people, said)


def _prompt(tried: Tried) -> TriedPrompt:
    said = _codes(tried.said)
    return TriedPrompt(tried, confusion(said, _codes(tried.people)), int((said == FAILED).sum()))


def _codes(labels: tuple[int | None, ...]) -> Bytes:
    """Return labels as reports have them: what is none of the three is negative."""
    known = [UNJUDGED if code is None else code if code < LABELS else FAILED for code in labels]
    return np.array(known, dtype=np.int8)
