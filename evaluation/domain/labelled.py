"""Judges with labels, by topic: found once per revision of the campaign, because every label is read."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TypeVar

from evaluation.campaigns.contents import tally_of
from evaluation.models import Campaign, SupportJudgment
from evaluation.models.campaigns import RevisionKey
from evaluation.terms import SupportCondition

Key = TypeVar("Key")
Given = frozenset[tuple[int, int]]
"""Judges and the topics in which they have labels that stand, by primary keys."""


def assigned(campaign: Campaign, nugget_set: int) -> Given:
    return _assigned(campaign, campaign.revision_key).get(nugget_set, frozenset())


def supported(campaign: Campaign, condition: SupportCondition) -> Given:
    return _supported(campaign.pk, campaign.revision_key).get(condition, frozenset())


def topics_of_several(given: Iterable[tuple[int, int]], judges: Collection[int]) -> frozenset[int]:
    counts = Counter(topic for judge, topic in given if judge in judges)
    return frozenset(topic for topic, number in counts.items() if number > 1)


@lru_cache(maxsize=16)
def _assigned(campaign: Campaign, _revision: RevisionKey) -> dict[int, Given]:
    return _by_first((cell.nugget_set, cell.topic, cell.judge) for cell in tally_of(campaign))


@lru_cache(maxsize=16)
def _supported(campaign: int, _revision: RevisionKey) -> dict[str, Given]:
    labels = SupportJudgment.objects.current().filter(sentence__answer__topic__campaign=campaign).order_by()
    return _by_first(labels.values_list("condition", "sentence__answer__topic__pk", "judge").distinct())


def _by_first(rows: Iterable[tuple[Key, int, int]]) -> dict[Key, Given]:
    found: dict[Key, set[tuple[int, int]]] = defaultdict(set)
    for key, topic, judge in rows:
        found[key].add((judge, topic))
    return {key: frozenset(given) for key, given in found.items()}
