"""Which part of a condition is whose, where people share the topics of a campaign.

What was handed out says whose work counts in a topic; second opinions are left out.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluation import handed
from evaluation.models import Campaign, Judge, NuggetSet
from evaluation.terms import SupportCondition
from reports.labelled import Given, assigned, supported
from reports.parts import Part


def by_makers(sets: Iterable[NuggetSet], makers: dict[int, int]) -> list[Part]:
    """Return each set with the topics whose list counts."""
    topics: dict[int, set[int]] = defaultdict(set)
    for topic, made in makers.items():
        topics[made].add(topic)
    return [Part(one, None, frozenset(topics[one.pk])) for one in sets if one.pk in topics]


@dataclass(frozen=True, slots=True)
class _Work:
    """A part of which it is not said whose it is: who has labels there, who was handed which topic, second opinions.

    `second` holds topics and judges.
    """

    part: Part
    labelled: Given
    given: Mapping[int, int]
    second: Collection[tuple[int, int]]

    def second_of(self, judge: Judge) -> set[int]:
        """Return the topics in which a judge gave a second opinion."""
        return {topic for topic, one in self.second if one == judge.pk}

    def has(self, judge: Judge, *, outside: Collection[int]) -> bool:
        """Say whether a judge has labels here, those of some topics left aside."""
        topics = {topic for one, topic in self.labelled if one == judge.pk}
        if self.part.topics is not None:
            topics &= self.part.topics
        return not topics <= set(outside)

    def handed_to(self, judge: Judge) -> set[int]:
        """Return the topics that a judge was handed, second opinions among them."""
        return self.second_of(judge) | {topic for topic, one in self.given.items() if one == judge.pk}


def by_assigners(campaign: Campaign, lists: Sequence[Part], judges: Sequence[Judge]) -> list[Part] | None:
    """Return the parts of whoever assigned each topic: the only one, or those who were handed it.

    None where several did and somebody's labels lie outside of what was handed out: then it must be said who is meant.
    """
    given = handed.assigners(campaign, [one.nugget_set.pk for one in lists if one.nugget_set])
    works = [
        _Work(
            part=one,
            labelled=assigned(campaign, one.nugget_set.pk),
            given={topic: judge for (topic, made), judge in given.items() if made == one.nugget_set.pk},
            second=handed.second_assigners(campaign, one.nugget_set.pk),
        )
        for one in lists
        if one.nugget_set
    ]
    return _shared(works, judges, _topics(campaign))


def by_support_judges(
    campaign: Campaign, condition: SupportCondition, judges: Sequence[Judge]
) -> list[Part] | None:
    """Return the parts of whoever judged each topic's citations; None as in `by_assigners`."""
    work = _Work(
        part=Part(None, None),
        labelled=supported(campaign, condition),
        given=handed.support_judges(campaign, condition),
        second=handed.second_support_judges(campaign, condition),
    )
    return _shared([work], judges, _topics(campaign))


def _shared(works: Sequence[_Work], judges: Sequence[Judge], topics: frozenset[int]) -> list[Part] | None:
    counting = [one for one in judges if any(work.has(one, outside=work.second_of(one)) for work in works)]
    if len(counting) > 1:
        if any(work.has(one, outside=work.handed_to(one)) for work in works for one in counting):
            return None
        return [part for work in works for part in _split(work, counting, topics)]
    judge = counting[0] if counting else None
    return [part for work in works for part in _without_second(work, judge, topics)]


def _split(work: _Work, judges: Sequence[Judge], topics: frozenset[int]) -> Iterator[Part]:
    """Yield a part's topics by judge; those that nobody was handed, or who has no labels yet, without one."""
    by_key = {one.pk: one for one in judges}
    found: dict[int | None, set[int]] = defaultdict(set)
    for topic in topics if work.part.topics is None else work.part.topics:
        judge = work.given.get(topic)
        found[judge if judge in by_key else None].add(topic)
    for key in sorted(found, key=lambda key: key or 0):
        yield Part(work.part.nugget_set, by_key[key] if key else None, frozenset(found[key]))


def _without_second(work: _Work, judge: Judge | None, topics: frozenset[int]) -> Iterator[Part]:
    """Yield a part with its judge, but for the topics in which the judge gave a second opinion."""
    nugget_set, own = work.part.nugget_set, work.part.topics
    there = topics if own is None else own
    apart = there & work.second_of(judge) if judge else frozenset[int]()
    yield Part(nugget_set, judge, there - apart if apart else own)
    if apart:
        yield Part(nugget_set, None, apart)


def _topics(campaign: Campaign) -> frozenset[int]:
    return frozenset(campaign.topics.values_list("pk", flat=True))
