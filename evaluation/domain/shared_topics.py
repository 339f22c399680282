"""Sets and judges that count in each topic, where several people share a campaign's topics.

Each person makes lists in a set of their own, and gives labels as a judge of their own. A topic has at most one task
that is no second opinion, and its set and judge count there.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from evaluation.domain.labelled import Given, assigned, supported
from evaluation.models import Campaign, Judge, NuggetSet, Task
from evaluation.terms import Origin, Stage, SupportCondition

Topics = frozenset[int] | None
"""Some topics by primary key; None: all."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some topics of a condition, with the set and the judge that count there; None where there is none yet."""

    nugget_set: NuggetSet | None
    judge: Judge | None
    topics: Topics = None

    @property
    def key(self) -> "PartKey":
        nugget_set = self.nugget_set.pk if self.nugget_set else None
        return nugget_set, self.judge.pk if self.judge else None, self.topics


PartKey = tuple[int | None, int | None, Topics]


def by_makers(sets: Iterable[NuggetSet], makers: dict[int, int]) -> list[Part]:
    topics: dict[int, set[int]] = defaultdict(set)
    for topic, made in makers.items():
        topics[made].add(topic)
    return [
        Part(nugget_set, None, frozenset(topics[nugget_set.pk])) for nugget_set in sets if nugget_set.pk in topics
    ]


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
        return {topic for topic, judge_id in self.second if judge_id == judge.pk}

    def has(self, judge: Judge, *, outside: Collection[int]) -> bool:
        topics = {topic for judge_id, topic in self.labelled if judge_id == judge.pk}
        if self.part.topics is not None:
            topics &= self.part.topics
        return not topics <= set(outside)

    def handed_to(self, judge: Judge) -> set[int]:
        """Return the topics that a judge was handed, second opinions among them."""
        return self.second_of(judge) | {topic for topic, judge_id in self.given.items() if judge_id == judge.pk}


def by_assigners(campaign: Campaign, lists: Sequence[Part], judges: Sequence[Judge]) -> list[Part] | None:
    """Return the parts of whoever assigned each topic: the only one, or those who were handed it.

    None where several did and somebody's labels lie outside of what was handed out: then it must be said who is meant.
    """
    given = assigners(campaign, [nugget_list.nugget_set.pk for nugget_list in lists if nugget_list.nugget_set])
    works = [
        _Work(
            part=nugget_list,
            labelled=assigned(campaign, nugget_list.nugget_set.pk),
            given={topic: judge for (topic, made), judge in given.items() if made == nugget_list.nugget_set.pk},
            second=second_assigners(campaign, nugget_list.nugget_set.pk),
        )
        for nugget_list in lists
        if nugget_list.nugget_set
    ]
    return _shared(works, judges, _topics(campaign))


def by_support_judges(
    campaign: Campaign, condition: SupportCondition, judges: Sequence[Judge]
) -> list[Part] | None:
    """Return the parts of whoever judged each topic's citations; None as in `by_assigners`."""
    work = _Work(
        part=Part(None, None),
        labelled=supported(campaign, condition),
        given=support_judges(campaign, condition),
        second=second_support_judges(campaign, condition),
    )
    return _shared([work], judges, _topics(campaign))


def _shared(works: Sequence[_Work], judges: Sequence[Judge], topics: frozenset[int]) -> list[Part] | None:
    counting = [judge for judge in judges if any(work.has(judge, outside=work.second_of(judge)) for work in works)]
    # A single judge needs no hand-out: imported labels have none.
    if len(counting) > 1:
        # Nothing says whose label counts outside of what was handed out, and guessing would change a score.
        if any(work.has(judge, outside=work.handed_to(judge)) for work in works for judge in counting):
            return None
        return [part for work in works for part in _split(work, counting, topics)]
    judge = counting[0] if counting else None
    return [part for work in works for part in _without_second(work, judge, topics)]


def _split(work: _Work, judges: Sequence[Judge], topics: frozenset[int]) -> Iterator[Part]:
    """Yield a part's topics by judge; those that nobody was handed, or who has no labels yet, without one."""
    by_key = {judge.pk: judge for judge in judges}
    found: dict[int | None, set[int]] = defaultdict(set)
    for topic in topics if work.part.topics is None else work.part.topics:
        judge = work.given.get(topic)
        found[judge if judge in by_key else None].add(topic)
    # A fixed order, so that equal choices compare as equal.
    for key in sorted(found, key=lambda key: key or 0):
        yield Part(work.part.nugget_set, by_key[key] if key else None, frozenset(found[key]))


def _without_second(work: _Work, judge: Judge | None, topics: frozenset[int]) -> Iterator[Part]:
    """Yield a part with its judge, but for the topics in which the judge gave a second opinion."""
    nugget_set, own = work.part.nugget_set, work.part.topics
    there = topics if own is None else own
    # A second opinion measures agreement; as a score it would count the topic by the wrong person.
    apart = there & work.second_of(judge) if judge else frozenset[int]()
    yield Part(nugget_set, judge, there - apart if apart else own)
    if apart:
        yield Part(nugget_set, None, apart)


def _topics(campaign: Campaign) -> frozenset[int]:
    return frozenset(campaign.topics.values_list("pk", flat=True))


def makers_sets(campaign: Campaign, origin: Origin) -> dict[int, int]:
    stages = [stage for stage in Stage if not stage.judges and stage.origin is origin]
    tasks = _counting(campaign).filter(stage__in=stages)
    return dict(tasks.values_list("topic__pk", "nugget_set"))


def sets_written_at_desks(campaign: Campaign) -> set[int]:
    """Return the sets whose lists are made at desks, by people who share the topics."""
    tasks = Task.objects.filter(campaign=campaign).exclude(nugget_set=None).exclude(stage=Stage.ASSIGN)
    return set(tasks.order_by().values_list("nugget_set", flat=True).distinct())


def second_lists(campaign: Campaign) -> set[tuple[int, int]]:
    tasks = _second(campaign).exclude(nugget_set=None).exclude(stage=Stage.ASSIGN)
    return {(topic, made) for topic, made in tasks.values_list("topic__pk", "nugget_set") if made}


def assigners(campaign: Campaign, nugget_sets: Collection[int]) -> dict[tuple[int, int], int]:
    """Return the judge whose labels count, by topic and nugget set, as far as these are assigned at desks."""
    tasks = _counting(campaign).filter(stage=Stage.ASSIGN, nugget_set__in=nugget_sets)
    judges = _judges(campaign)
    rows = tasks.values_list("topic__pk", "nugget_set", "assessor")
    return {(topic, made): judges[user] for topic, made, user in rows if user in judges}


def support_judges(campaign: Campaign, condition: SupportCondition) -> dict[int, int]:
    """Return the judge whose support labels count, by topic, as far as they are given at desks."""
    tasks = _counting(campaign).filter(stage__in=_stages(condition))
    judges = _judges(campaign)
    return {topic: judges[user] for topic, user in tasks.values_list("topic__pk", "assessor") if user in judges}


def second_assigners(campaign: Campaign, nugget_set: int) -> set[tuple[int, int]]:
    tasks = _second(campaign).filter(stage=Stage.ASSIGN, nugget_set=nugget_set)
    return _by_judge(campaign, tasks)


def second_support_judges(campaign: Campaign, condition: SupportCondition) -> set[tuple[int, int]]:
    return _by_judge(campaign, _second(campaign).filter(stage__in=_stages(condition)))


def _stages(condition: SupportCondition) -> list[Stage]:
    return [stage for stage in Stage if stage.condition is condition]


def _tasks(campaign: Campaign) -> QuerySet[Task]:
    # A study's tasks repeat labels that count elsewhere, and withdrawn work counts nowhere.
    return Task.objects.filter(campaign=campaign, study=None).not_withdrawn()


def _counting(campaign: Campaign) -> QuerySet[Task]:
    return _tasks(campaign).filter(second_opinion=False)


def _second(campaign: Campaign) -> QuerySet[Task]:
    return _tasks(campaign).filter(second_opinion=True)


def _by_judge(campaign: Campaign, tasks: QuerySet[Task]) -> set[tuple[int, int]]:
    judges = _judges(campaign)
    return {(topic, judges[user]) for topic, user in tasks.values_list("topic__pk", "assessor") if user in judges}


def _judges(campaign: Campaign) -> dict[int, int]:
    """Return the judge that each person with work in the campaign is."""
    assessors = Task.objects.filter(campaign=campaign).values("assessor")
    return dict(Judge.objects.filter(user__in=assessors, study=None).values_list("user", "pk"))
