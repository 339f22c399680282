"""Conditions resolved in a campaign: nugget sets and judges that count, everywhere or topic by topic.

People who share a campaign's topics each make lists in a set of their own, and give labels as a judge of their own.
A topic has at most one task that is no second opinion, and its set and judge count there. Lists and labels that came
from files were handed to nobody: there a topic's first list and first labels count.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Protocol, TypeVar

from django.db.models import Min, Q, QuerySet

from evaluation.campaigns.contents import tally_of
from evaluation.errors import Refused, no_such
from evaluation.models import Assignment, Campaign, Judge, NuggetList, NuggetSet, SupportJudgment, Task
from evaluation.models.campaigns import RevisionKey
from evaluation.models.querysets import TaskQuerySet
from evaluation.stages import STAGES
from evaluation.terms import Condition, JudgeKind, Origin, SupportCondition, TaskState
from web.text import plural

ALL_PEOPLE = "all people"
"""In place of the name of a judge or a set: those of all people together, even where one is named by default."""

Key = TypeVar("Key")
Named = TypeVar("Named", NuggetSet, Judge)

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


@dataclass(frozen=True, slots=True)
class Choice:
    """A resolved condition. Of several parts, each is one person's share of the topics."""

    campaign: Campaign
    parts: tuple[Part, ...]

    @property
    def judges(self) -> tuple[Judge, ...]:
        return tuple(dict.fromkeys(part.judge for part in self.parts if part.judge))

    @property
    def judges_text(self) -> str | None:
        return ", ".join(judge.name for judge in self.judges) or None

    @property
    def names(self) -> str:
        return self.judges_text or ""

    @property
    def givers(self) -> frozenset[tuple[int, int | None, int]]:
        return frozenset((topic, part.key[0], part.judge.pk) for part, topic in self._by_topic() if part.judge)

    @property
    def keys(self) -> tuple[PartKey, ...]:
        return tuple(part.key for part in self.parts)

    def _by_topic(self) -> list[tuple[Part, int]]:
        everywhere = _topics(self.campaign)
        return [
            (part, topic) for part in self.parts for topic in (everywhere if part.topics is None else part.topics)
        ]


@dataclass(frozen=True, slots=True)
class NuggetCondition(Choice):
    condition: Condition

    def __str__(self) -> str:
        return self.condition

    @property
    def nugget_sets(self) -> tuple[NuggetSet, ...]:
        return tuple(dict.fromkeys(part.nugget_set for part in self.parts if part.nugget_set))

    @property
    def sets_text(self) -> str | None:
        return ", ".join(nugget_set.name for nugget_set in self.nugget_sets) or None

    @property
    def names(self) -> str:
        return ", ".join(filter(None, [self.sets_text, self.judges_text]))

    @property
    def grounds(self) -> frozenset[tuple[int, int]]:
        """Set and topic of all lists: equal where two conditions judge the same nuggets."""
        return frozenset((part.nugget_set.pk, topic) for part, topic in self._by_topic() if part.nugget_set)


@dataclass(frozen=True, slots=True)
class CitationCondition(Choice):
    condition: SupportCondition

    def __str__(self) -> str:
        return self.condition


Reading = TypeVar("Reading", NuggetCondition, CitationCondition)


def check_apart(x: Choice, y: Choice) -> None:
    """Raise `Refused` where two choices have some topics' labels in common, which would agree with themselves."""
    if type(x) is not type(y) or x.parts == y.parts:
        return
    common = x.givers & y.givers
    if common:
        names = {judge.pk: judge.name for judge in x.judges}
        names_in_common = ", ".join(sorted({names[judge] for _, _, judge in common}))
        topics = len({topic for topic, _, _ in common})
        raise Refused(
            "ambiguous",
            f"In {topics} {plural(topics, 'topic')} both sides are the labels of {names_in_common}: name a judge for "
            "each side.",
        )


def whole(
    campaign: Campaign, condition: Condition, nugget_set: NuggetSet | None, judge: Judge | None
) -> NuggetCondition:
    """Return a condition that is one set and one judge in all topics."""
    return NuggetCondition(campaign, (Part(nugget_set, judge),), condition)


def resolve(campaign: Campaign, condition: Condition, *, judge: str = "", nuggets: str = "") -> NuggetCondition:
    """Return the sets and judges of a condition: those named, else the campaign's default, else the only candidates.

    If people share the topics, each topic's list is by the person who made it here, and its labels are by the person
    who assigned it, else by whose labels were there first; second opinions count only by name. Sets and judges fit when
    they have labels together; a set without any fits where none has. Raises `Refused`: `ambiguous` with the names where
    several fit, `no_such_set` or `no_such_judge` where the named one does not exist or has no labels here.
    """
    default = _default(campaign, condition)
    lists = _lists(campaign, condition, "" if judge == ALL_PEOPLE else judge, nuggets, default[1])
    sets = [nugget_list.nugget_set for nugget_list in lists if nugget_list.nugget_set]
    judges = list(judges_of(*sets, kind=condition.judge_kind, name=judge))
    judge_row = _judge_called(condition, judges, judge, default[0])
    # Only people share topics: an LLM judge labels all of them, so a second judge is always ambiguous.
    if judge_row is None and condition.judge_kind is JudgeKind.HUMAN:
        return NuggetCondition(campaign, tuple(_by_assigners(campaign, lists, judges)), condition)
    judge_row = judge_row or only_judge(judges, condition)
    return NuggetCondition(
        campaign,
        tuple(Part(nugget_list.nugget_set, judge_row, nugget_list.topics) for nugget_list in lists),
        condition,
    )


def resolve_citations(campaign: Campaign, condition: SupportCondition, *, judge: str = "") -> CitationCondition:
    """Return the judges that a support condition means. Raises `Refused` as `resolve` does."""
    judges = list(support_judges_of(campaign, condition, name=judge))
    judge_row = _judge_called(condition, judges, judge, _default(campaign, condition)[0])
    if judge_row is None and condition.judge_kind is JudgeKind.HUMAN:
        return CitationCondition(campaign, tuple(_by_support_judges(campaign, condition, judges)), condition)
    return CitationCondition(campaign, (Part(None, judge_row or only_judge(judges, condition)),), condition)


def readings(
    campaign: Campaign, condition: Condition, judge: str = "", nuggets: str = ""
) -> list[NuggetCondition]:
    """Return what a condition can mean: one where `resolve` knows, else one for each set and judge that fit."""
    names = {"judge": judge, "nuggets": nuggets}
    try:
        return [resolve(campaign, condition, **names)]
    except Refused as refused:
        choices = [names | {refused.field: name} for name in refused.choices]
    return [reading for choice in choices for reading in readings(campaign, condition, **choice)]


def readings_of_citations(campaign: Campaign, condition: SupportCondition) -> list[CitationCondition]:
    """Return what a support condition can mean: one where `resolve_citations` knows, else one for each judge."""
    try:
        return [resolve_citations(campaign, condition)]
    except Refused as refused:
        return [resolve_citations(campaign, condition, judge=name) for name in refused.choices]


def told_apart(choices: Sequence[Reading]) -> list[tuple[Reading, str]]:
    """Return each with the names that tell it from others of the same condition; '' where it is the only one."""
    number = Counter(choice.condition for choice in choices)
    return [(choice, choice.names if number[choice.condition] > 1 else "") for choice in choices]


def nugget_sets_of(
    campaign: Campaign,
    condition: Condition,
    *,
    judge: str = "",
    nuggets: str = "",
    among: Collection[int] | None = None,
) -> list[tuple[NuggetSet, Topics]]:
    """Return the sets whose lists a condition means, each with its topics. `among`: keys of the only sets to look at.

    Raises `Refused` as `resolve` does.
    """
    lists = _lists(campaign, condition, judge, nuggets, _default(campaign, condition)[1], among)
    return [(nugget_list.nugget_set, nugget_list.topics) for nugget_list in lists if nugget_list.nugget_set]


def lists_to_label(
    campaign: Campaign, condition: Condition, judge: str, *, nuggets: str, own: str
) -> list[tuple[NuggetSet, Topics]]:
    """Return the sets whose lists an LLM judge labels: those that a report shows for it.

    `own`: name of the set in which the judge makes lists. Before its first label it goes on with that set, else it
    takes what a report shows where nobody is named. AutoNuggets may make `own` yet: then there are none.
    Raises `Refused` as `resolve` does, unless the judge has a set of its own to take where several fit.
    """
    sets = list(campaign.nugget_sets.filter(origin=condition.origin))
    mine: list[tuple[NuggetSet, Topics]] = [(nugget_set, None) for nugget_set in sets if nugget_set.name == own]
    may_have_own = bool(mine) or condition.origin is Origin.AUTO
    if nuggets == own and may_have_own:
        return mine
    has_labels = any(_fits(nugget_set, condition, judge) for nugget_set in sets)
    default = _default(campaign, condition)[1]
    if mine and not nuggets and not has_labels and default not in [nugget_set.name for nugget_set in sets]:
        return mine
    try:
        return nugget_sets_of(campaign, condition, judge=judge if has_labels else "", nuggets=nuggets)
    except Refused as refused:
        if refused.code != "ambiguous" or not may_have_own:
            raise
        return mine


class NamedSet(Protocol):
    """A nugget set with the name of the person who made it, '' for an LLM's."""

    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> str: ...

    @property
    def person(self) -> str: ...


def names_to_choose(sets: Iterable[NamedSet]) -> list[str]:
    """Return the names of sets, with *all people* where several people have sets of one origin."""
    rows = list(sets)
    makers = {(row.origin, row.person) for row in rows if row.person}
    several = len(makers) > len({origin for origin, _ in makers})
    return [*([ALL_PEOPLE] if several else []), *(row.name for row in rows)]


def set_of_origin(campaign: Campaign, origin: Origin, name: str, field: str) -> NuggetSet:
    """Return the set of that name, or the only set of that origin. Raises `Refused`: `no_such_set`, `ambiguous`."""
    sets = campaign.nugget_sets.filter(origin=origin)
    fitting = list(sets.filter(name=name) if name else sets)
    nugget_set = only_set(fitting, f"origin {origin}", field)
    if nugget_set:
        return nugget_set
    what = f"{origin} nugget set {name}".strip()
    raise no_such("no_such_set", what, campaign.nugget_sets.values_list("name", flat=True))


def only(fitting: Sequence[Named], nouns: str, what: str, field: str) -> Named | None:
    """Return the only set or judge that fits; None where none does. Raises `Refused` (`ambiguous`) where several do."""
    if len(fitting) > 1:
        names = [each.name for each in fitting]
        text = f"Several {nouns} fit {what}; choose one: {', '.join(names)}."
        raise Refused("ambiguous", text, field=field, choices=names)
    return fitting[0] if fitting else None


def only_set(fitting: Sequence[NuggetSet], what: str, field: str = "nuggets") -> NuggetSet | None:
    return only(fitting, "nugget sets", what, field)


def only_judge(fitting: Sequence[Judge], what: str, field: str = "judge") -> Judge | None:
    return only(fitting, "judges", what, field)


def judges_of(*sets: NuggetSet, kind: JudgeKind | None = None, name: str = "") -> QuerySet[Judge]:
    """Return the judges who have labels of the sets' nuggets; a judge of a study only where it is named."""
    labelled = {judge for nugget_set in sets for judge, _ in assigned(nugget_set.campaign, nugget_set.pk)}
    judges = Judge.objects.filter(kind=kind) if kind else Judge.objects.all()
    # Study labels repeat pairs on purpose, so they must never count beside the labels they check.
    return judges.filter(Q(aside=False) | Q(name=name), pk__in=labelled).order_by("name")


def support_judges_of(campaign: Campaign, condition: SupportCondition, *, name: str = "") -> QuerySet[Judge]:
    """Return the judges who have support labels under a condition; a judge of a study only where it is named."""
    labelled = {judge for judge, _ in supported(campaign, condition)}
    return Judge.objects.filter(Q(aside=False) | Q(name=name), pk__in=labelled).order_by("name")


def _default(campaign: Campaign, condition: Condition | SupportCondition) -> tuple[str, str]:
    """Return the judge and set that the campaign names for a condition, '' where it names none."""
    default = campaign.defaults.filter(condition=condition).first()
    return (default.judge, default.nuggets) if default else ("", "")


def _lists(
    campaign: Campaign,
    condition: Condition,
    judge: str,
    name: str,
    default: str,
    among: Collection[int] | None = None,
) -> list[Part]:
    """Return the sets that a condition means, without judges. Raises `Refused`."""
    rows = campaign.nugget_sets.filter(origin=condition.origin).select_related("judge")
    sets = list(rows if among is None else rows.filter(pk__in=among))
    everybody = (name or default) == ALL_PEOPLE
    if everybody:
        sets = [nugget_set for nugget_set in sets if nugget_set.judge.kind == JudgeKind.HUMAN] or sets
    elif name:
        return [Part(_named_set(campaign, condition, sets, name), None)]
    preferred = [nugget_set for nugget_set in sets if nugget_set.name == default and not everybody]
    if preferred or len(sets) < 2:
        return [Part(nugget_set, None) for nugget_set in (preferred or sets)[:1]]
    made_here = _sets_made_at_desks(campaign)
    # A set that is loaded but not labelled yet must not make a report with one labelled set ambiguous.
    fitting = [nugget_set for nugget_set in sets if _fits(nugget_set, condition, judge)] or sets
    makers = {nugget_set.judge_id for nugget_set in fitting if nugget_set.judge.kind == JudgeKind.HUMAN}
    if 1 < len(makers) == len(fitting) or all(nugget_set.pk in made_here for nugget_set in fitting):
        shared = [nugget_set for nugget_set in sets if nugget_set in fitting or nugget_set.pk in made_here]
        parts = _by_makers(campaign, condition.origin, shared)
        counting = {part.nugget_set for part in parts}
        # A set whose topics are all in others is another version of their lists rather than a share of the topics.
        loaded = {nugget_set for nugget_set in fitting if nugget_set.pk not in made_here}
        if parts and (everybody or loaded <= counting):
            return parts
    return [Part(only_set(fitting, condition), None)]


def _named_set(campaign: Campaign, condition: Condition, sets: list[NuggetSet], name: str) -> NuggetSet:
    for nugget_set in sets:
        if nugget_set.name == name:
            return nugget_set
    there = ", ".join(nugget_set.name for nugget_set in sets) or "none"
    raise Refused("no_such_set", f"{condition} has no nugget set {name} in {campaign.slug}; there are: {there}.")


def _fits(nugget_set: NuggetSet, condition: Condition, judge: str) -> bool:
    judges = judges_of(nugget_set, kind=condition.judge_kind, name=judge)
    return (judges.filter(name=judge) if judge else judges).exists()


def _judge_called(
    condition: Condition | SupportCondition, judges: list[Judge], name: str, default: str
) -> Judge | None:
    """Return the judge that is named, or the campaign's default; None where none is. Raises `Refused`."""
    if name == ALL_PEOPLE and condition.judge_kind is JudgeKind.HUMAN:
        return None
    preferred = name or default
    for judge in judges:
        if judge.name == preferred:
            return judge
    if name:
        names = ", ".join(judge.name for judge in judges)
        raise Refused("no_such_judge", f"{name} has no labels under {condition}; there are: {names or 'none'}.")
    return None


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
    tasks = _tasks(campaign).making().filter(second_opinion=True)
    return {
        (topic, nugget_set) for topic, nugget_set in tasks.values_list("topic__pk", "nugget_set") if nugget_set
    }


def _makers_sets(campaign: Campaign, origin: Origin) -> dict[int, int]:
    """Return the set whose list counts, by topic."""
    stages = [stage for stage in STAGES.values() if stage.origin is origin]
    tasks = _tasks(campaign).filter(second_opinion=False, stage__in=stages)
    return dict(tasks.values_list("topic__pk", "nugget_set"))


def _sets_made_at_desks(campaign: Campaign) -> set[int]:
    # Sets of withdrawn tasks are among them: their lists were made here, and no file's are.
    tasks = Task.objects.making().filter(campaign=campaign)
    return set(tasks.order_by().values_list("nugget_set", flat=True).distinct())


def _by_makers(campaign: Campaign, origin: Origin, sets: Collection[NuggetSet]) -> list[Part]:
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


def _by_assigners(campaign: Campaign, lists: Sequence[Part], judges: Sequence[Judge]) -> list[Part]:
    """Return the parts of whoever assigned each topic: the only judge, else who was handed it or came first."""
    assigning = _tasks(campaign).by_list()
    return _shared(
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


def _by_support_judges(campaign: Campaign, condition: SupportCondition, judges: Sequence[Judge]) -> list[Part]:
    """Return the parts of whoever judged each topic's citations, as `_by_assigners`."""
    stages = [stage for stage in STAGES.values() if stage.condition is condition]
    tasks = _tasks(campaign).filter(stage__in=stages)
    first = partial(_first_supported, condition)
    return _shared(campaign, [(Part(None, None), supported(campaign, condition), tasks, first)], judges)


def _first_assigned(nugget_set: int, topics: Collection[int], judges: Collection[int]) -> dict[int, int]:
    labels = Assignment.objects.current().filter(
        judge__in=judges,
        nugget_version__nugget__nugget_set=nugget_set,
        nugget_version__nugget__topic__in=topics,
    )
    return _first_of(labels.values_list("nugget_version__nugget__topic", "judge"))


def _first_supported(
    condition: SupportCondition, topics: Collection[int], judges: Collection[int]
) -> dict[int, int]:
    labels = SupportJudgment.objects.current().filter(
        judge__in=judges, condition=condition, sentence__answer__topic__in=topics
    )
    return _first_of(labels.values_list("sentence__answer__topic", "judge"))


def _first_of(labels: QuerySet[Any, Any]) -> dict[int, int]:
    """Return the judge of each topic's first label. By key: a copy of the campaign has new times, in the same order."""
    first = labels.order_by().annotate(first=Min("pk"))
    by_topic: dict[int, tuple[int, int]] = {}
    for topic, judge, pk in first:
        by_topic[topic] = min(by_topic.get(topic, (pk, judge)), (pk, judge))
    return {topic: judge for topic, (_, judge) in by_topic.items()}


def _shared(
    campaign: Campaign, work: Sequence[tuple[Part, Given, QuerySet[Task], FirstLabels]], judges: Sequence[Judge]
) -> list[Part]:
    assessors = Task.objects.filter(campaign=campaign).values("assessor")
    judge_of = dict(Judge.objects.filter(user__in=assessors, study=None).values_list("user", "pk"))
    shares = [_share(part, labelled, tasks, judge_of, first) for part, labelled, tasks, first in work]
    topics = _topics(campaign)
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


def _topics(campaign: Campaign) -> frozenset[int]:
    return frozenset(campaign.topics.values_list("pk", flat=True))


def _tasks(campaign: Campaign) -> TaskQuerySet[Task]:
    # A study's tasks repeat labels that count elsewhere, and withdrawn work counts nowhere.
    return Task.objects.filter(campaign=campaign, study=None).not_withdrawn()
