"""Battles of one condition as arrays."""

from dataclasses import dataclass

from reports.metrics.arrays import Booleans, Floats, Indices


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
        return BattleSheet(
            run_ids=self.run_ids,
            topic_ids=self.topic_ids,
            topic=self.topic[battles],
            first=self.first[battles],
            second=self.second[battles],
            points=self.points[battles],
            lengths=self.lengths[battles],
            bad=self.bad[battles],
            split=self.split[battles],
        )
