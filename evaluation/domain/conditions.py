"""Conditions resolved in a campaign: nugget sets and judges that count, everywhere or topic by topic."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from django.db.models import Q, QuerySet

from evaluation.domain.shares import (
    Part,
    PartKey,
    Topics,
    assigned,
    by_assigners,
    by_makers,
    by_support_judges,
    sets_made_at_desks,
    supported,
    topics_of,
)
from evaluation.errors import Refused, no_such
from evaluation.models import Campaign, Judge, NuggetSet
from evaluation.terms import Condition, JudgeKind, Origin, SupportCondition
from web.text import plural

ALL_PEOPLE = "all people"
"""In place of the name of a judge or a set: those of all people together, even where one is named by default."""

Named = TypeVar("Named", NuggetSet, Judge)


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
        everywhere = topics_of(self.campaign)
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
        return NuggetCondition(campaign, tuple(by_assigners(campaign, lists, judges)), condition)
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
        return CitationCondition(campaign, tuple(by_support_judges(campaign, condition, judges)), condition)
    return CitationCondition(campaign, (Part(None, judge_row or only_judge(judges, condition)),), condition)


def condition_named(
    campaign: Campaign, name: str, *, judge: str = "", nuggets: str = ""
) -> NuggetCondition | CitationCondition:
    """Return the condition of a name. Raises `Refused` where several judges or sets fit, ValueError for no name."""
    if name in list(SupportCondition):
        return resolve_citations(campaign, SupportCondition(name), judge=judge)
    return resolve(campaign, Condition(name), judge=judge, nuggets=nuggets)


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
    made_here = sets_made_at_desks(campaign)
    # A set that is loaded but not labelled yet must not make a report with one labelled set ambiguous.
    fitting = [nugget_set for nugget_set in sets if _fits(nugget_set, condition, judge)] or sets
    makers = {nugget_set.judge_id for nugget_set in fitting if nugget_set.judge.kind == JudgeKind.HUMAN}
    if 1 < len(makers) == len(fitting) or all(nugget_set.pk in made_here for nugget_set in fitting):
        shared = [nugget_set for nugget_set in sets if nugget_set in fitting or nugget_set.pk in made_here]
        parts = by_makers(campaign, condition.origin, shared)
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
