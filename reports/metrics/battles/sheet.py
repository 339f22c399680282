"""Battles of one condition as arrays, and cycles: three runs of which, within a topic, each beat another one."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from reports.metrics.arrays import Booleans, Floats, Indices

FEWEST_TRIADS: Final = 20


@dataclass(frozen=True, slots=True)
class BattleSheet:
    """N battles that count: places of topic, first and second run, and points of the first (1, 1/2, 0 or between), N.

    `lengths`: log2 of the first answer's words over those of the second, nan where one is missing, N.
    `bad`: both answers were called bad; `split`: the points are 1/2 because the sides of the answers decided.
    """

    run_ids: tuple[str, ...]
    topic_ids: tuple[str, ...]
    topic: Indices
    first: Indices
    second: Indices
    points: Floats
    lengths: Floats
    bad: Booleans
    split: Booleans

    def of_runs(self, runs: Booleans) -> "BattleSheet":
        """Return the battles between these runs, a mask R; places stay as they are."""
        return self.where(runs[self.first] & runs[self.second])

    def where(self, battles: Booleans) -> "BattleSheet":
        of_battles = ("topic", "first", "second", "points", "lengths", "bad", "split")
        return replace(self, **{name: getattr(self, name)[battles] for name in of_battles})


@dataclass(frozen=True, slots=True)
class Cycles:
    """Triads of which all three battles were decided, and those of them in which a beat b, b beat c and c beat a."""

    triads: int
    cyclic: int

    @property
    def share(self) -> float | None:
        """Share of cyclic triads, by chance a quarter; None of fewer than 20."""
        return None if self.triads < FEWEST_TRIADS else self.cyclic / self.triads


def cycles(sheet: BattleSheet) -> Cycles:
    runs, triads, cyclic = len(sheet.run_ids), 0.0, 0.0
    won = np.where(sheet.points > 0.5, sheet.first, sheet.second)
    lost = np.where(sheet.points > 0.5, sheet.second, sheet.first)
    decided = sheet.points != 0.5
    for topic in range(len(sheet.topic_ids)):
        battles = decided & (sheet.topic == topic)
        beat = np.zeros((runs, runs))
        beat[won[battles], lost[battles]] = 1.0
        met = beat + beat.T
        # Closed walks of three steps: each cycle is found from its three runs, each triad from them both ways.
        cyclic += float(((beat @ beat) * beat.T).sum()) / 3
        triads += float(((met @ met) * met).sum()) / 6
    return Cycles(round(triads), round(cyclic))
