"""Which part of a condition is whose, where people share the topics of a campaign.

What was handed out says whose work counts in a topic; second opinions are left out.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from evaluation import handed
from evaluation.models import Assignment, Campaign, Judge, NuggetSet, SupportJudgment
from evaluation.terms import SupportCondition
from reports.parts import Part


def by_makers(sets: Iterable[NuggetSet], makers: dict[int, int]) -> list[Part]:
    """Return each set with the topics whose list counts."""
    topics: dict[int, set[int]] = defaultdict(set)
    for topic, made in makers.items():
        topics[made].add(topic)
    return [Part(one, None, frozenset(topics[one.pk])) for one in sets if one.pk in topics]


def by_assigners(campaign: Campaign, lists: list[Part], judges: list[Judge]) -> list[Part] | None:
    """Return the parts of whoever assigned each topic: the only one, or those who were handed it.

    None where several did and no hand-out says who counts.
    """
    sets = [one.nugget_set.pk for one in lists if one.nugget_set]
    second = {made: handed.second_assigners(campaign, made) for made in sets}
    counting = [judge for judge in judges if any(_assigned(made, judge, second[made]) for made in sets)]
    given = handed.assigners(campaign, sets)
    if len(counting) > 1 and not {one.pk for one in counting} <= set(given.values()):
        return None
    topics, parts = _topics(campaign), list[Part]()
    for one in lists:
        made = one.nugget_set.pk if one.nugget_set else 0
        if len(counting) > 1:
            there = topics if one.topics is None else one.topics
            parts += _split(one, counting, {topic: given.get((topic, made)) for topic in there})
        else:
            judge = counting[0] if counting else None
            left_out = {
                topic for topic, second_judge in second.get(made, ()) if judge and second_judge == judge.pk
            }
            parts += _without(one, judge, left_out, topics)
    return parts


def by_support_judges(campaign: Campaign, condition: SupportCondition, judges: list[Judge]) -> list[Part] | None:
    """Return the parts of whoever judged each topic's citations; None as in `by_assigners`."""
    second = handed.second_support_judges(campaign, condition)
    counting = [judge for judge in judges if _supported(campaign, condition, judge, second)]
    given = handed.support_judges(campaign, condition)
    if len(counting) > 1 and not {one.pk for one in counting} <= set(given.values()):
        return None
    everything, topics = Part(None, None), _topics(campaign)
    if len(counting) > 1:
        return list(_split(everything, counting, {topic: given.get(topic) for topic in topics}))
    judge = counting[0] if counting else None
    left_out = {topic for topic, second_judge in second if judge and second_judge == judge.pk}
    return list(_without(everything, judge, left_out, topics))


def _split(part: Part, judges: list[Judge], given: dict[int, int | None]) -> Iterator[Part]:
    """Yield a part's topics by judge; those that nobody was handed, or who has no labels yet, without one."""
    by_key = {one.pk: one for one in judges}
    topics: dict[int | None, set[int]] = defaultdict(set)
    for topic, judge in given.items():
        topics[judge if judge in by_key else None].add(topic)
    for key in sorted(topics, key=lambda key: key or 0):
        yield Part(part.nugget_set, by_key[key] if key else None, frozenset(topics[key]))


def _without(part: Part, judge: Judge | None, left_out: Collection[int], topics: frozenset[int]) -> Iterator[Part]:
    """Yield a part with its judge, but for the topics in which the judge gave a second opinion."""
    there = topics if part.topics is None else part.topics
    apart = there & frozenset(left_out)
    yield Part(part.nugget_set, judge, there - apart if apart else part.topics)
    if apart:
        yield Part(part.nugget_set, None, apart)


def _assigned(nugget_set: int, judge: Judge, second: set[tuple[int, int]]) -> bool:
    """Whether a judge has labels of a set that are no second opinions."""
    labels = Assignment.objects.filter(judge=judge, nugget_version__nugget__nugget_set=nugget_set, stands=True)
    return labels.exclude(answer__topic__in=_topics_of(second, judge)).exists()


def _supported(
    campaign: Campaign, condition: SupportCondition, judge: Judge, second: set[tuple[int, int]]
) -> bool:
    """Whether a judge has support labels under a condition that are no second opinions."""
    labels = SupportJudgment.objects.filter(
        judge=judge, condition=condition, sentence__answer__topic__campaign=campaign, stands=True
    )
    return labels.exclude(sentence__answer__topic__in=_topics_of(second, judge)).exists()


def _topics_of(second: set[tuple[int, int]], judge: Judge) -> list[int]:
    return [topic for topic, second_judge in second if second_judge == judge.pk]


def _topics(campaign: Campaign) -> frozenset[int]:
    return frozenset(campaign.topics.values_list("pk", flat=True))
