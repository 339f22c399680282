"""Nugget sets of a campaign and the judges who labelled them, for the choices of report forms."""

from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.domain.conditions import judges_of
from evaluation.models import Campaign
from evaluation.terms import Condition, JudgeKind, Origin
from reports.cache import cached_report


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """A nugget set and the judges, by name and kind, who have labels of its nuggets."""

    name: str
    origin: Origin
    judges: tuple[tuple[str, JudgeKind], ...]

    def condition(self, kind: JudgeKind) -> Condition:
        return next(each for each in Condition if (each.origin, each.judge_kind) == (self.origin, kind))

    def judges_for(self, condition: str) -> list[str]:
        return [name for name, kind in self.judges if self.condition(kind) == condition]


@cached_report(size=64)
def labelled_sets(campaign: Campaign) -> tuple[LabelledSet, ...]:
    return tuple(
        LabelledSet(
            nugget_set.name,
            Origin(nugget_set.origin),
            tuple((judge.name, JudgeKind(judge.kind)) for judge in judges_of(nugget_set)),
        )
        for nugget_set in campaign.nugget_sets.exclude(origin=Origin.DRAFT)
    )


def first_condition(labelled: Iterable[LabelledSet]) -> str:
    found = {each.condition(kind) for each in labelled for _, kind in each.judges}
    return next((condition for condition in Condition if condition in found), Condition.AA)
