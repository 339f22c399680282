"""A trial of prompts in figures: how each agrees with the people who labelled the same pairs."""

from dataclasses import dataclass

import numpy as np

from llmjobs.models import Trial
from llmjobs.trials import Tried, outcome_of
from reports.confusions import ASSIGNMENT_LABELS, SUPPORT_LABELS
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
class TrialReport:
    """A trial and its prompts, side by side."""

    trial: Trial
    labels: tuple[str, str, str]
    prompts: tuple[TriedPrompt, ...]

    @property
    def support(self) -> bool:
        """Say whether the labels are those of support."""
        return self.trial.task == "support"

    @property
    def moving(self) -> bool:
        """Say whether a prompt is still being asked."""
        return any(one.tried.llm.job.state == "running" for one in self.prompts)


def trial_report(trial: Trial) -> TrialReport:
    """Compare what each prompt said with what people had said when the pairs were drawn."""
    labels = ASSIGNMENT_LABELS if trial.task == "assign" else SUPPORT_LABELS
    return TrialReport(trial, labels, tuple(_prompt(one) for one in outcome_of(trial)))


def _prompt(tried: Tried) -> TriedPrompt:
    said = _codes(tried.said)
    return TriedPrompt(tried, confusion(said, _codes(tried.people)), int((said == FAILED).sum()))


def _codes(labels: tuple[int | None, ...]) -> Bytes:
    """Return labels as reports have them: what is none of the three is negative."""
    known = [UNJUDGED if code is None else code if code < LABELS else FAILED for code in labels]
    return np.array(known, dtype=np.int8)
