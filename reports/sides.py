"""Sides of a comparison: conditions of scores and of support, qrels, published tables."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from evaluation.domain.conditions import judges_of, support_judges_of
from evaluation.models import Campaign, Judge, NuggetLineage, NuggetSet
from evaluation.terms import Condition, JudgeKind, Origin, SupportCondition
from reports.cache import cached_report
from reports.leaderboard.external import external_names

GRADES = "qrels:"
"""Before the name of a source of qrels, which may be called like a condition."""

PAIRINGS = (
    ("A/A", "E/M"),
    ("A/A", "M/M"),
    ("E/A", "E/M"),
    ("M/A", "M/M"),
    ("llm", "scratch"),
    ("llm", "post-edit"),
)
"""What the studies publish the agreement of."""

LABEL_PAIRINGS = (
    ("E/A", "E/M"),
    ("A/A", "A/M"),
    ("M/A", "M/M"),
    ("llm", "scratch"),
    ("llm", "post-edit"),
    ("scratch", "post-edit"),
)
"""Conditions that label the same items."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Sides that a campaign can compare: sets, judges and sources by name, and the conditions with labels.

    `lineage`: some list says what its nuggets were made from.
    """

    campaign: Campaign
    sets: tuple[NuggetSet, ...]
    judges: tuple[str, ...]
    conditions: tuple[Condition, ...]
    support: tuple[SupportCondition, ...]
    sources: tuple[str, ...] = ()
    published: tuple[str, ...] = field(default=())
    lineage: bool = False

    @property
    def labelled(self) -> tuple[str, ...]:
        return (*self.conditions, *self.support, *(f"{GRADES}{name}" for name in self.sources))

    def pairings(self) -> Iterator[tuple[str, str]]:
        return (pair for pair in PAIRINGS if set(pair) <= set(self.labelled))

    def label_pairings(self) -> Iterator[tuple[str, str]]:
        yield from (pair for pair in LABEL_PAIRINGS if set(pair) <= set(self.labelled))
        for place, name in enumerate(self.sources):
            yield from ((f"{GRADES}{name}", f"{GRADES}{other}") for other in self.sources[place + 1 :])


@cached_report(size=64)
def offer_of(campaign: Campaign) -> Offer:
    sets = tuple(campaign.nugget_sets.exclude(origin=Origin.DRAFT))
    by_set = [(one, list(judges_of(one))) for one in sets]
    by_support = {one: list(support_judges_of(campaign, one)) for one in SupportCondition}
    kinds = {(Origin(one.origin), JudgeKind(judge.kind)) for one, judges in by_set for judge in judges}
    everybody: list[Judge] = [judge for _, judges in by_set for judge in judges]
    everybody += [judge for judges in by_support.values() for judge in judges]
    return Offer(
        campaign=campaign,
        sets=sets,
        judges=tuple(sorted({one.name for one in everybody})),
        conditions=tuple(one for one in Condition if (one.origin, one.judge_kind) in kinds),
        support=tuple(one for one, judges in by_support.items() if judges),
        sources=tuple(campaign.qrel_sources.values_list("name", flat=True)),
        published=tuple(external_names(campaign)),
        lineage=NuggetLineage.objects.filter(child__nugget__nugget_set__in=sets).exists(),
    )


def side_text(name: str) -> str:
    return name.removeprefix(GRADES)


def first_conditions(sets: Iterable[NuggetSet]) -> dict[str, str]:
    kinds = {(Origin(one.origin), judge.kind) for one in sets for judge in judges_of(one)}
    there = [condition for condition in Condition if (condition.origin, condition.judge_kind) in kinds]
    x = there[0] if there else Condition.AA
    return {"x": x, "y": next((one for one in there if one is not x), Condition.EM)}
