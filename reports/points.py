"""The points of a scatter: runs by their means, and the single answers behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from reports.metrics.agreement import Paired
from reports.metrics.arrays import Counts, Floats


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One run's mean under both conditions; `difference` is x - y."""

    run_id: str
    task: str
    x: float | None
    y: float | None

    @property
    def difference(self) -> float | None:
        """How much higher x is, None where one side is undefined."""
        return None if self.x is None or self.y is None else self.x - self.y


@dataclass(frozen=True, slots=True)
class TopicPoint:
    """One answer's score under both conditions."""

    run_id: str
    topic_id: str
    task: str
    x: float
    y: float


class TopicPoints(Sequence[TopicPoint]):
    """n answers as arrays: a campaign has too many of them to keep an object for each. `x` and `y` n."""

    def __init__(
        self,
        runs: Sequence[tuple[str, str]],
        topic_ids: Sequence[str],
        places: Counts,
        x: Floats,
        y: Floats,
    ) -> None:
        """Take runs with their tasks, topics, and of each answer where its topic and its run stand (n x 2)."""
        self._runs, self._topic_ids, self._places = runs, topic_ids, places
        self.x, self.y = x, y

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> TopicPoint: ...
    @overload
    def __getitem__(self, at: slice) -> list[TopicPoint]: ...
    def __getitem__(self, at: int | slice) -> TopicPoint | list[TopicPoint]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        topic, run = self._places[at]
        run_id, task = self._runs[run]
        return TopicPoint(run_id, self._topic_ids[topic], task, float(self.x[at]), float(self.y[at]))


def topic_points(both: Paired, tasks: Mapping[str, str]) -> TopicPoints:
    """Return the answers that have a score on both sides."""
    scored = both.scored_on_both()
    runs = [(run_id, tasks.get(run_id, "")) for run_id in both.run_ids]
    return TopicPoints(runs, both.topic_ids, np.argwhere(scored), both.x[scored], both.y[scored])


NO_POINTS = TopicPoints((), (), np.zeros((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0))
