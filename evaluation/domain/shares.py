"""Shares of a campaign's topics: whose list and whose labels count in each, where people share them.

People who share a campaign's topics each make lists in a set of their own, and give labels as a judge of their own.
A topic has at most one task that is no second opinion, and its set and judge count there. Lists and labels that came
from files were handed to nobody: there a topic's first list and first labels count.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeVar

from django.db.models import Min, QuerySet

from evaluation.campaigns.contents import tally_of
from evaluation.models import Assignment, Campaign, Judge, NuggetList, NuggetSet, SupportJudgment, Task
from evaluation.models.campaigns import RevisionKey
from evaluation.models.querysets import TaskQuerySet
from evaluation.stages import STAGES
from evaluation.terms import Origin, SupportCondition, TaskState

Key = TypeVar("Key")

Given = frozenset[tuple[int, int]]
"""Judges and the topics in which they have current labels, by primary keys."""
TopicsByJudge = Mapping[int, Set[int]]
FirstLabels = Callable[[Collection[int], Collection[int]], Mapping[int, int]]
"""Judge of the first label of each of some topics, of some judges; all by primary keys."""

Topics = frozenset[int] | None
"""Primary keys of the topics that are meant; None: all."""

PartKey = tuple[int | None, int | None, Topics]


@dataclass(frozen=True, slots=True)
class Part:
    """Topics of a condition with the set and the judge that count there; None where there is none yet."""

    nugget_set: NuggetSet | None
    judge: Judge | None
    topics: Topics = None

    @property
    def key(self) -> PartKey:
        nugget_set = self.nugget_set.pk if self.nugget_set else None
        return nugget_set, self.judge.pk if self.judge else None, self.topics


def assigned(campaign: Campaign, nugget_set: int) -> Given:
    return _assigned(campaign, campaign.revision_key).get(nugget_set, frozenset())


def supported(campaign: Campaign, condition: SupportCondition) -> Given:
    return _supported(campaign.pk, campaign.revision_key).get(condition, frozenset())


def topics_of_several(pairs: Given, judges: Collection[int]) -> frozenset[int]:
    counts = Counter(topic for judge, topic in pairs if judge in judges)
    return frozenset(topic for topic, number in counts.items() if number > 1)


# Every label is read to find its judges, so that is done once per revision of the campaign.
@lru_cache(maxsize=16)
def _assigned(campaign: Campaign, _revision: RevisionKey) -> dict[int, Given]:
    return _by_first((cell.nugget_set, cell.topic, cell.judge) for cell in tally_of(campaign))


@lru_cache(maxsize=16)
def _supported(campaign: int, _revision: RevisionKey) -> dict[str, Given]:
    labels = SupportJudgment.objects.current().filter(sentence__answer__topic__campaign=campaign).order_by()
    return _by_first(labels.values_list("condition", "sentence__answer__topic__pk", "judge").distinct())


def _by_first(rows: Iterable[tuple[Key, int, int]]) -> dict[Key, Given]:
    by_key: dict[Key, set[tuple[int, int]]] = defaultdict(set)
    for key, topic, judge in rows:
        by_key[key].add((judge, topic))
    return {key: frozenset(pairs) for key, pairs in by_key.items()}


def second_lists(campaign: Campaign) -> set[tuple[int, int]]:
    tasks = tasks_of(campaign).making().filter(second_opinion=True)
    return {
        (topic, nugget_set) for topic, nugget_set in tasks.values_list("topic__pk", "nugget_set") if nugget_set
    }


def _makers_sets(campaign: Campaign, origin: Origin) -> dict[int, int]:
    """Return the set whose list counts, by topic."""
    stages = [stage for stage in STAGES.values() if stage.origin is origin]
    tasks = tasks_of(campaign).filter(second_opinion=False, stage__in=stages)
    return dict(tasks.values_list("topic__pk", "nugget_set"))


def sets_made_at_desks(campaign: Campaign) -> set[int]:
    # Sets of withdrawn tasks are among them: their lists were made here, and no file's are.
    tasks = Task.objects.making().filter(campaign=campaign)
    return set(tasks.order_by().values_list("nugget_set", flat=True).distinct())


def by_makers(campaign: Campaign, origin: Origin, sets: Collection[NuggetSet]) -> list[Part]:
    """Return each set's share of the topics: those handed to its maker, else those of which it has the first list."""
    there: dict[int, dict[int, None]] = defaultdict(dict)
    apart = _lists_apart(campaign)
    lists = NuggetList.objects.filter(nugget_set__in=sets, submitted=True).order_by("pk")
    for topic, set_pk in lists.values_list("topic__pk", "nugget_set__pk"):
        if (topic, set_pk) not in apart:
            there[topic][set_pk] = None
    counting = {topic: next(iter(set_pk)) for topic, set_pk in there.items()}
    keys = {nugget_set.pk for nugget_set in sets}
    for topic, set_pk in _makers_sets(campaign, origin).items():
        if set_pk in keys and (set_pk in there[topic] or not there[topic]):
            counting[topic] = set_pk
    topics: dict[int, set[int]] = defaultdict(set)
    for topic, set_pk in counting.items():
        topics[set_pk].add(topic)
    return [
        Part(nugget_set, None, frozenset(topics[nugget_set.pk])) for nugget_set in sets if nugget_set.pk in topics
    ]


def _lists_apart(campaign: Campaign) -> set[tuple[int, int]]:
    """Return the topic and set of lists that were made at desks and do not count: second opinions, withdrawn work."""
    tasks = Task.objects.making().filter(campaign=campaign)
    rows = set(tasks.values_list("topic__pk", "nugget_set", "second_opinion", "state"))
    counting = {
        (topic, made) for topic, made, second, state in rows if not second and state != TaskState.WITHDRAWN
    }
    return {(topic, made) for topic, made, _, _ in rows if made} - counting


@dataclass(frozen=True, slots=True)
class _Share:
    """A part before its judges are known: who has labels there, who was handed which topic, second opinions.

    `first_labels`: a query that finds who has the first of the labels in each of some topics.
    """

    part: Part
    labelled: TopicsByJudge
    handed: Mapping[int, int]
    second: TopicsByJudge
    first_labels: FirstLabels

    def second_of(self, judge: Judge) -> Set[int]:
        return self.second.get(judge.pk, frozenset())

    def has(self, judge: Judge, *, outside: Set[int]) -> bool:
        topics = self.labelled.get(judge.pk, frozenset())
        if self.part.topics is not None:
            topics = topics & self.part.topics
        return not topics <= outside

    def judge_in(self, topic: int, judges: Collection[int], first: Mapping[int, int]) -> int | None:
        """Return whose labels count in a topic: who was handed it, else who has labels there, or the first there."""
        there = self.giving(topic, judges)
        handed = self.handed.get(topic)
        if handed in judges and (handed in there or not there):
            return handed
        return first.get(topic) if len(there) > 1 else next(iter(there), None)

    def giving(self, topic: int, judges: Collection[int]) -> set[int]:
        """Return the judges with labels in a topic that are no second opinion."""
        return {
            judge
            for judge in judges
            if topic in self.labelled.get(judge, ()) and topic not in self.second.get(judge, ())
        }


def by_assigners(campaign: Campaign, lists: Sequence[Part], judges: Sequence[Judge]) -> list[Part]:
    """Return the parts of whoever assigned each topic: the only judge, else who was handed it or came first."""
    assigning = tasks_of(campaign).by_list()
    return shared_parts(
        campaign,
        [
            (
                part,
                assigned(campaign, part.nugget_set.pk),
                assigning.filter(nugget_set=part.nugget_set),
                partial(_first_assigned, part.nugget_set.pk),
            )
            for part in lists
            if part.nugget_set
        ],
        judges,
    )


def by_support_judges(campaign: Campaign, condition: SupportCondition, judges: Sequence[Judge]) -> list[Part]:
    """Return the parts of whoever judged each topic's citations, as `by_assigners`."""
    stages = [stage for stage in STAGES.values() if stage.condition is condition]
    tasks = tasks_of(campaign).filter(stage__in=stages)
    first = partial(_first_supported, condition)
    return shared_parts(campaign, [(Part(None, None), supported(campaign, condition), tasks, first)], judges)


def _first_assigned(nugget_set: int, topics: Collection[int], judges: Collection[int]) -> dict[int, int]:
    labels = Assignment.objects.current().filter(
        judge__in=judges,
        nugget_version__nugget__nugget_set=nugget_set,
        nugget_version__nugget__topic__in=topics,
    )
    return first_of(labels.values_list("nugget_version__nugget__topic", "judge"))


def _first_supported(
    condition: SupportCondition, topics: Collection[int], judges: Collection[int]
) -> dict[int, int]:
    labels = SupportJudgment.objects.current().filter(
        judge__in=judges, condition=condition, sentence__answer__topic__in=topics
    )
    return first_of(labels.values_list("sentence__answer__topic", "judge"))


def first_of(labels: QuerySet[Any, Any]) -> dict[int, int]:
    """Return the judge of each topic's first label. By key: a copy of the campaign has new times, in the same order."""
    first = labels.order_by().annotate(first=Min("pk"))
    by_topic: dict[int, tuple[int, int]] = {}
    for topic, judge, pk in first:
        by_topic[topic] = min(by_topic.get(topic, (pk, judge)), (pk, judge))
    return {topic: judge for topic, (_, judge) in by_topic.items()}


def shared_parts(
    campaign: Campaign, work: Sequence[tuple[Part, Given, QuerySet[Task], FirstLabels]], judges: Sequence[Judge]
) -> list[Part]:
    assessors = Task.objects.filter(campaign=campaign).values("assessor")
    judge_of = dict(Judge.objects.filter(user__in=assessors, study=None).values_list("user", "pk"))
    shares = [_share(part, labelled, tasks, judge_of, first) for part, labelled, tasks, first in work]
    topics = topics_of(campaign)
    counting = [
        judge for judge in judges if any(share.has(judge, outside=share.second_of(judge)) for share in shares)
    ]
    # A single judge needs no hand-out: imported labels have none.
    if len(counting) > 1:
        return [part for share in shares for part in _split(share, counting, topics)]
    judge = counting[0] if counting else None
    return [part for share in shares for part in _without_second(share, judge, topics)]


def _share(
    part: Part, labelled: Given, tasks: QuerySet[Task], judge_of: Mapping[int, int], first: FirstLabels
) -> _Share:
    rows = [
        (topic, judge_of[user], second)
        for topic, user, second in tasks.values_list("topic__pk", "assessor", "second_opinion")
        if user in judge_of
    ]
    handed = {topic: judge for topic, judge, second in rows if not second}
    seconds = _topics_by_judge((judge, topic) for topic, judge, second in rows if second)
    return _Share(part, _topics_by_judge(labelled), handed, seconds, first)


def _topics_by_judge(work: Iterable[tuple[int, int]]) -> TopicsByJudge:
    topics: dict[int, set[int]] = defaultdict(set)
    for judge, topic in work:
        topics[judge].add(topic)
    return topics


def _split(share: _Share, judges: Sequence[Judge], topics: frozenset[int]) -> Iterator[Part]:
    """Yield a part's topics by judge; those in which nobody who counts has work or labels, without a judge."""
    by_key = {judge.pk: judge for judge in judges}
    own = topics if share.part.topics is None else share.part.topics
    several = [topic for topic in own if len(share.giving(topic, by_key.keys())) > 1]
    first = share.first_labels(several, by_key.keys()) if several else {}
    by_judge: dict[int | None, set[int]] = defaultdict(set)
    for topic in own:
        by_judge[share.judge_in(topic, by_key.keys(), first)].add(topic)
    # A fixed order, so that equal choices compare as equal.
    for key in sorted(by_judge, key=lambda key: key or 0):
        yield Part(share.part.nugget_set, by_key[key] if key else None, frozenset(by_judge[key]))


def _without_second(share: _Share, judge: Judge | None, topics: frozenset[int]) -> Iterator[Part]:
    """Yield a part with its judge, but for the topics in which the judge gave a second opinion."""
    nugget_set, own = share.part.nugget_set, share.part.topics
    there = topics if own is None else own
    # A second opinion measures agreement; as a score it would count the topic by the wrong person.
    apart = there & share.second_of(judge) if judge else frozenset[int]()
    yield Part(nugget_set, judge, there - apart if apart else own)
    if apart:
        yield Part(nugget_set, None, apart)


def topics_of(campaign: Campaign) -> frozenset[int]:
    return frozenset(campaign.topics.values_list("pk", flat=True))


def tasks_of(campaign: Campaign) -> TaskQuerySet[Task]:
    # A study's tasks repeat labels that count elsewhere, and withdrawn work counts nowhere.
    return Task.objects.filter(campaign=campaign, study=None).not_withdrawn()
