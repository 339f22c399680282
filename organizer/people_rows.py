"""Row of the page on the work of assessors."""

from dataclasses import dataclass

from evaluation.queries.assessors import Assessor, Mix, TaskCount
from evaluation.rules.forecast import Spread
from evaluation.terms import Stage


@dataclass(frozen=True, slots=True)
class PersonStage:
    """One assessor at one stage. Minutes are active ones of first submissions; shares are fractions.

    `minutes` has the quartiles of the point estimates, `low` and `high` are the medians of the other two.
    """

    who: Assessor
    stage: Stage
    tasks: TaskCount
    minutes: Spread | None
    low: float | None
    high: float | None
    words_per_minute: float | None
    mix: Mix
    others: Mix
    accepts: Spread | None

    @property
    def swept(self) -> float | None:
        """Share of labels that the nugget sweep changed."""
        return self.mix.swept / self.mix.total if self.mix.total else None
