"""How much a figure rests on: few topics, label pairs or runs are no evidence on a page."""

from dataclasses import dataclass
from typing import Final

from reports.metrics.intervals import FEWEST_RUNS, FEWEST_TOPICS
from web.text import plural

# Small n: pages show a figure on few topics, pairs or runs as no evidence. Files and the API have every figure as it
# is, because whoever computes with it knows how much it rests on.
FEWEST_PAIRS: Final = 10
TOPICS_FOR_INTERVAL: Final = 10
"""Topics from which an interval is as dark as its figure."""


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Counts of topics and of label pairs behind a figure; None: the figure has no such count."""

    topics: int | None = None
    pairs: int | None = None

    @property
    def has_few_topics(self) -> bool:
        return self.topics is not None and self.topics < FEWEST_TOPICS

    @property
    def is_small(self) -> bool:
        return self.has_few_topics or (self.pairs is not None and self.pairs < FEWEST_PAIRS)

    @property
    def n(self) -> str:
        # Topics before pairs: they are what a campaign samples, and the bootstrap draws them.
        if self.has_few_topics:
            return f"n = {self.topics} {plural(self.topics or 0, 'topic')}"
        return f"n = {self.pairs} {plural(self.pairs or 0, 'pair')}"

    @property
    def reason(self) -> str:
        if self.has_few_topics:
            return f"fewer than {FEWEST_TOPICS} topics are too few to be evidence"
        return f"fewer than {FEWEST_PAIRS} label pairs are too few to be evidence"

    @property
    def has_faint_interval(self) -> bool:
        return not self.is_small and self.topics is not None and self.topics < TOPICS_FOR_INTERVAL


def has_tau(runs: int, topics: int | None) -> bool:
    return runs >= FEWEST_RUNS and (topics is None or topics >= FEWEST_TOPICS)


def why_no_tau(runs: int, topics: int | None) -> str | None:
    if has_tau(runs, topics):
        return None
    # A published table has scores of runs alone, so nobody knows on how many topics they rest.
    if topics is None:
        return f"shown from {FEWEST_RUNS} runs on; here {runs}"
    return f"shown from {FEWEST_RUNS} runs and {FEWEST_TOPICS} topics on; here {runs} and {topics}"
