"""Conditions resolved in a campaign: nugget sets and judges that count, everywhere or topic by topic."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Q, QuerySet

from evaluation.domain.labelled import assigned, supported
from evaluation.domain.shared_topics import (
    Part,
    PartKey,
    Topics,
    by_assigners,
    by_makers,
    by_support_judges,
    makers_sets,
    sets_written_at_desks,
)
from evaluation.errors import Refused
from evaluation.models import Campaign, Judge, NuggetSet
from evaluation.terms import Condition, JudgeKind, Origin, SupportCondition
from web.text import plural

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
    def givers(self) -> frozenset[tuple[int, int | None, int]]:
        everywhere = frozenset(self.campaign.topics.values_list("pk", flat=True))
        return frozenset(
            (topic, key[0], key[1])
            for key in self.keys
            if key[1] is not None
            for topic in (everywhere if key[2] is None else key[2])
        )

    @property
    def keys(self) -> tuple[PartKey, ...]:
        return tuple(part.key for part in self.parts)


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
    def grounds(self) -> frozenset[tuple[int, int]]:
        """Set and topic of all lists: equal where two conditions judge the same nuggets."""
        everywhere = frozenset(self.campaign.topics.values_list("pk", flat=True))
        return frozenset(
            (part.nugget_set.pk, topic)
            for part in self.parts
            if part.nugget_set
            for topic in (everywhere if part.topics is None else part.topics)
        )


@dataclass(frozen=True, slots=True)
class CitationCondition(Choice):
    condition: SupportCondition

    def __str__(self) -> str:
        return self.condition


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
    """Return the sets and judges a condition means: the named ones, else the campaign's default, else the only ones.

    Where people share the topics, each topic's list is that of whoever made it here, and its labels are those of
    whoever assigned it; second opinions count only by name. Sets and judges fit when they have labels together; a set
    without any fits where none has.
    Raises `Refused`: `ambiguous` with the names where several fit, `no_such_set` or `no_such_judge` where the
    named one does not exist or has no labels here.
    """
    default = _default(campaign, condition)
    lists = _lists(campaign, condition, judge, nuggets, default[1])
    sets = [nugget_list.nugget_set for nugget_list in lists if nugget_list.nugget_set]
    judges = list(judges_of(*sets, kind=condition.judge_kind, named=judge))
    chosen = _named(condition, judges, judge, default[0])
    # Only people share topics: an LLM judge labels all of them, so a second one is always ambiguous.
    if chosen is None and condition.judge_kind is JudgeKind.HUMAN:
        shared = by_assigners(campaign, lists, judges)
        if shared is not None:
            return NuggetCondition(campaign, tuple(shared), condition)
    chosen = chosen or only_judge(judges, condition)
    return NuggetCondition(
        campaign,
        tuple(Part(nugget_list.nugget_set, chosen, nugget_list.topics) for nugget_list in lists),
        condition,
    )


def resolve_citations(campaign: Campaign, condition: SupportCondition, *, judge: str = "") -> CitationCondition:
    """Return the judges that a support condition means. Raises `Refused` as `resolve` does."""
    judges = list(support_judges_of(campaign, condition, named=judge))
    chosen = _named(condition, judges, judge, _default(campaign, condition)[0])
    if chosen is None and condition is not SupportCondition.LLM:
        shared = by_support_judges(campaign, condition, judges)
        if shared is not None:
            return CitationCondition(campaign, tuple(shared), condition)
    return CitationCondition(campaign, (Part(None, chosen or only_judge(judges, condition)),), condition)


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

    `own`: name of the set in which the judge makes lists. Before its first label it goes on with that one, else it
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


def set_of_origin(campaign: Campaign, origin: Origin, name: str, option: str) -> NuggetSet:
    """Return the set of that name, or the only one of that origin.

    Raises `Refused`: `no_such_set` where nothing fits, `ambiguous` where several do.
    """
    sets = campaign.nugget_sets.filter(origin=origin)
    fitting = list(sets.filter(name=name) if name else sets)
    found = only_set(fitting, f"origin {origin}", option)
    if found:
        return found
    there = ", ".join(campaign.nugget_sets.values_list("name", flat=True)) or "none"
    if name:
        raise Refused("no_such_set", f"There is no {origin} nugget set {name}; there are: {there}.")
    raise Refused("no_such_set", f"There is no {origin} nugget set; there are: {there}.")


def only_set(fitting: Sequence[NuggetSet], what: str, option: str = "--nuggets") -> NuggetSet | None:
    """Return the only set that fits; None where none does. Raises `Refused` (`ambiguous`) where several do."""
    return _only(fitting, f"Several nugget sets fit {what}; say which with {option}")


def only_judge(fitting: Sequence[Judge], what: str, option: str = "--judge") -> Judge | None:
    """Return the only judge who fits; None where none does. Raises `Refused` (`ambiguous`) where several do."""
    return _only(fitting, f"Several judges fit {what}; say which with {option}")


def judges_of(*sets: NuggetSet, kind: JudgeKind | None = None, named: str = "") -> QuerySet[Judge]:
    """Return the judges who have labels of some sets' nuggets; of those of studies only one that is named."""
    labelled = {judge for nugget_set in sets for judge, _ in assigned(nugget_set.campaign, nugget_set.pk)}
    judges = Judge.objects.filter(kind=kind) if kind else Judge.objects.all()
    # Study labels repeat pairs on purpose, so they must never count beside the labels they check.
    return judges.filter(Q(aside=False) | Q(name=named), pk__in=labelled).order_by("name")


def support_judges_of(campaign: Campaign, condition: SupportCondition, *, named: str = "") -> QuerySet[Judge]:
    """Return the judges who have support labels under a condition; of those of studies only one that is named."""
    labelled = {judge for judge, _ in supported(campaign, condition)}
    return Judge.objects.filter(Q(aside=False) | Q(name=named), pk__in=labelled).order_by("name")


def _default(campaign: Campaign, condition: Condition | SupportCondition) -> tuple[str, str]:
    """Return the judge and set that the campaign names for a condition, '' where it names none."""
    default = campaign.defaults.filter(condition=condition).first()
    return (default.judge, default.nuggets) if default else ("", "")


def _lists(
    campaign: Campaign,
    condition: Condition,
    judge: str,
    named: str,
    default: str,
    among: Collection[int] | None = None,
) -> list[Part]:
    """Return the sets that a condition means, without judges. Raises `Refused`."""
    rows = campaign.nugget_sets.filter(origin=condition.origin)
    sets = list(rows if among is None else rows.filter(pk__in=among))
    if named:
        return [Part(_named_set(campaign, condition, sets, named), None)]
    preferred = [nugget_set for nugget_set in sets if nugget_set.name == default]
    if preferred or len(sets) < 2:
        return [Part(nugget_set, None) for nugget_set in (preferred or sets)[:1]]
    makers = makers_sets(campaign, condition.origin)
    made_here = sets_written_at_desks(campaign) if makers else set()
    if makers and all(nugget_set.pk in made_here for nugget_set in sets):
        return by_makers(sets, makers)
    # A set that is loaded but not labelled yet must not make a report with one labelled set ambiguous.
    fitting = [nugget_set for nugget_set in sets if _fits(nugget_set, condition, judge)] or sets
    if makers and all(nugget_set.pk in made_here for nugget_set in fitting):
        return by_makers(sets, makers)
    return [Part(only_set(fitting, condition), None)]


def _named_set(campaign: Campaign, condition: Condition, sets: list[NuggetSet], named: str) -> NuggetSet:
    for nugget_set in sets:
        if nugget_set.name == named:
            return nugget_set
    there = ", ".join(nugget_set.name for nugget_set in sets) or "none"
    raise Refused("no_such_set", f"{condition} has no nugget set {named} in {campaign.slug}; there are: {there}.")


def _fits(nugget_set: NuggetSet, condition: Condition, judge: str) -> bool:
    judges = judges_of(nugget_set, kind=condition.judge_kind, named=judge)
    return (judges.filter(name=judge) if judge else judges).exists()


def _named(condition: Condition | SupportCondition, judges: list[Judge], named: str, default: str) -> Judge | None:
    """Return the judge that is named, or the campaign's default; None where none is. Raises `Refused`."""
    wanted = named or default
    for judge in judges:
        if judge.name == wanted:
            return judge
    if named:
        names = ", ".join(judge.name for judge in judges)
        raise Refused("no_such_judge", f"{named} has no labels under {condition}; there are: {names or 'none'}.")
    return None


def _only(fitting: Sequence[Named], several: str) -> Named | None:
    if len(fitting) > 1:
        raise Refused("ambiguous", f"{several}: {', '.join(named.name for named in fitting)}.")
    return fitting[0] if fitting else None
