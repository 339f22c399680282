"""How often each nugget is found (Pradeep et al. 2025, nuggets across runs)."""

from dataclasses import dataclass

import numpy as np

from reports.metrics.arrays import Booleans, Counts, Floats, ratio
from reports.metrics.sheets import FULL, NOT, PARTIAL, AssignmentSheet


@dataclass(frozen=True, slots=True)
class NuggetFindings:
    """What the runs' answers have of each nugget; all arrays N, counts of answers.

    `unjudged` counts answers of runs that take part in the condition without a label of the nugget,
    failed ones among them. `share` is full / judged, nan where nothing is judged.
    """

    full: Counts
    partial: Counts
    none: Counts
    unjudged: Counts
    share: Floats

    @property
    def judged(self) -> Counts:
        """Answers with a label, N."""
        return self.full + self.partial + self.none

    @property
    def nobody(self) -> Booleans:
        """Nuggets that no judged answer has, not even in part, N."""
        found: Booleans = (self.judged > 0) & (self.full + self.partial == 0)
        return found

    @property
    def everybody(self) -> Booleans:
        """Nuggets that every judged answer has in full, N."""
        found: Booleans = (self.judged > 0) & (self.full == self.judged)
        return found


@dataclass(frozen=True, slots=True)
class Group:
    """Some nuggets together: how many, how many of them judged, and means over those; None where there is none."""

    nuggets: int
    judged: int
    share: float | None
    partial: float | None
    nobody: int
    everybody: int


def nugget_findings(sheet: AssignmentSheet) -> NuggetFindings:
    """Count who has what. An answer that was never submitted is no answer that lacks a nugget."""
    there = sheet.answered[sheet.nugget_topic] & sheet.labelled[np.newaxis, :]
    full, partial, none = (
        ((sheet.labels == value) & there).sum(axis=1, dtype=np.int64) for value in (FULL, PARTIAL, NOT)
    )
    unjudged = ((sheet.labels < 0) & there).sum(axis=1, dtype=np.int64)
    return NuggetFindings(full, partial, none, unjudged, ratio(full, full + partial + none))


def group_of(found: NuggetFindings, nuggets: Booleans) -> Group:
    """Describe the chosen nuggets (N)."""
    judged = nuggets & (found.judged > 0)
    partial = ratio(found.partial, found.judged)
    return Group(
        nuggets=int(nuggets.sum()),
        judged=int(judged.sum()),
        share=_mean(found.share[judged]),
        partial=_mean(partial[judged]),
        nobody=int((found.nobody & nuggets).sum()),
        everybody=int((found.everybody & nuggets).sum()),
    )


STEPS = ("nobody", "up to 25 %", "up to 50 %", "up to 75 %", "below 100 %", "everybody")


def share_counts(found: NuggetFindings, nuggets: Booleans) -> Counts:
    """Count the chosen judged nuggets by the share that found them in full, by STEPS: 0, four quarters, and 1."""
    shares = found.share[nuggets & (found.judged > 0)]
    quarter = np.clip(np.ceil(shares * 4).astype(np.int64), 0, 4)
    return np.bincount(np.where(shares == 1, len(STEPS) - 1, quarter), minlength=len(STEPS))


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
