"""How large the made-up campaigns are."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """A campaign: topics x runs answers, each with `nuggets` labels under each condition; `segments` texts."""

    topics: int
    runs: int
    nuggets: int
    segments: int

    @property
    def labels(self) -> int:
        return self.topics * self.runs * self.nuggets


TRACK = Size(topics=301, runs=146, nuggets=19, segments=30_000)
SMALL = Size(topics=12, runs=9, nuggets=5, segments=300)
CHECK = Size(topics=100, runs=50, nuggets=20, segments=0)
