"""The axis on which runs of a table show their scores and intervals, one bar beside the other."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor

TENTHS = 10


@dataclass(frozen=True, slots=True)
class ScoreAxis:
    """From `low`, below 0 where a score is, to `high`. `ends`: as its heading says them."""

    low: float
    high: float
    ends: str

    def place(self, value: float) -> float:
        """Return where a value lies, in percent of the axis."""
        return 100 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)


def score_axis(values: Iterable[float | None], *, is_fraction: bool = True) -> ScoreAxis:
    """Return the axis of a table with these scores and ends of intervals: 0 to 1, to most where none is a share.

    Scores by weights may be below 0: the axis then begins at the tenth below all of them.
    """
    numbers = [value for value in values if value is not None]
    low = floor(min([0.0, *numbers]) * TENTHS) / TENTHS
    if not is_fraction:
        return ScoreAxis(low, max(numbers, default=0.0) or 1.0, "0 to most")
    return ScoreAxis(low, 1.0, f"\N{MINUS SIGN}{-low:.1f} to 1" if low else "0 to 1")
