"""Cycles: three runs of which, within a topic, each beat another one."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from reports.metrics.battles.sheet import BattleSheet

FEWEST_TRIADS: Final = 20


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
