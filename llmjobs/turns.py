"""Whose call goes next where not all may go: those of the highest priority, and of equal ones each job in its turn."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


class Turns:
    """How many turns each job has had at one endpoint, among those that wait there."""

    def __init__(self) -> None:
        self.had: Counter[int] = Counter()

    def in_order(self, waiting: Iterable[T], job_of: Callable[[T], int], priorities: Mapping[int, int]) -> list[T]:
        """Waiting calls in the order in which they go; those of one job in their own order."""
        by_job: dict[int, list[T]] = defaultdict(list)
        for one in waiting:
            by_job[job_of(one)].append(one)
        before = [self.had[job] for job in by_job if job in self.had]
        # A job that comes new has had as many as who had fewest, or it would go alone until it had caught up.
        self.had = Counter({job: self.had.get(job, min(before, default=0)) for job in by_job})
        numbered = [
            (-priorities.get(job, 0), self.had[job] + number, job, one)
            for job, own in by_job.items()
            for number, one in enumerate(own)
        ]
        return [one for *_, one in sorted(numbered, key=lambda row: row[:3])]

    def take(self, job: int) -> None:
        self.had[job] += 1
