"""Small n: a figure on few topics or few label pairs is no evidence, and pages show it as such.

Only pages ask here; files and the API have every figure as it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from web.templatetags.assay import DASH, MINUS
from web.text import plural

FEWEST_TOPICS: Final = 5
FEWEST_PAIRS: Final = 10
FEWEST_RUNS: Final = 5
TOPICS_FOR_INTERVAL: Final = 10
"""Topics from which an interval is as dark as its figure."""


@dataclass(frozen=True, slots=True)
class Basis:
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
        if self.has_few_topics:
            return f"n = {self.topics} {plural(self.topics or 0, 'topic')}"
        return f"n = {self.pairs} {plural(self.pairs or 0, 'pair')}"

    @property
    def reason(self) -> str:
        if self.has_few_topics:
            return f"fewer than {FEWEST_TOPICS} topics are too few to be evidence"
        return f"fewer than {FEWEST_PAIRS} label pairs are too few to be evidence"

    @property
    def has_interval(self) -> bool:
        """Whether an interval is shown at all."""
        return not self.is_small

    @property
    def has_faint_interval(self) -> bool:
        """Whether an interval is shown, but on few topics."""
        return self.has_interval and self.topics is not None and self.topics < TOPICS_FOR_INTERVAL


def has_tau(runs: int, topics: int | None) -> bool:
    return runs >= FEWEST_RUNS and (topics is None or topics >= FEWEST_TOPICS)


def why_no_tau(runs: int, topics: int | None) -> str | None:
    """Return why the rank agreement of run means is not shown; None where it is."""
    if has_tau(runs, topics):
        return None
    if topics is None:
        return f"shown from {FEWEST_RUNS} runs on; here {runs}"
    return f"shown from {FEWEST_RUNS} runs and {FEWEST_TOPICS} topics on; here {runs} and {topics}"


def _two(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}".replace("-", MINUS)


def _two_signed(value: float | None) -> str:
    return DASH if value is None else f"{value:+.2f}".replace("-", MINUS)


def _whole_percent(value: float | None) -> str:
    return DASH if value is None else f"{100 * value:.0f}\N{NO-BREAK SPACE}%"


SHORT: Final[dict[str, Callable[[Any], str]]] = {
    "score": _two,
    "fine_score": _two,
    "tau": _two,
    "signed": _two_signed,
    "fine_signed": _two_signed,
    "percent": _whole_percent,
    "fine_percent": _whole_percent,
    "share": _whole_percent,
}
"""Formats with more than two decimals, and how they look on a small basis."""
