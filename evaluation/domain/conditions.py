"""Conditions resolved in a campaign: nugget sets and judges that count, everywhere or topic by topic."""

from dataclasses import dataclass

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
from web.phrases import plural, word


@dataclass(frozen=True, slots=True)
class Choice:
    """A resolved condition. Of several parts, each is one person's share of the topics."""

    campaign: Campaign
    parts: tuple[Part, ...]

    @property
    def judges(self) -> tuple[Judge, ...]:
        """Judges whose labels count; empty before any judging."""
        return tuple(dict.fromkeys(part.judge for part in self.parts if part.judge))

    @property
    def judges_said(self) -> str | None:
        """Their names."""
        return ", ".join(one.name for one in self.judges) or None

    @property
    def givers(self) -> frozenset[tuple[int, int | None, int]]:
        """Topic, set and judge of all that counts."""
        everywhere = frozenset(self.campaign.topics.values_list("pk", flat=True))
        return frozenset(
            (topic, key[0], key[1])
            for key in self.keys
            if key[1] is not None
            for topic in (everywhere if key[2] is None else key[2])
        )

    @property
    def keys(self) -> tuple[PartKey, ...]:
        """The parts by primary keys."""
        return tuple(part.key for part in self.parts)


@dataclass(frozen=True, slots=True)
class NuggetCondition(Choice):
    """A condition of nugget scores."""

    condition: Condition

    def __str__(self) -> str:
        return self.condition

    @property
    def nugget_sets(self) -> tuple[NuggetSet, ...]:
        """The sets whose lists count; none where the campaign has none that fits."""
        return tuple(dict.fromkeys(part.nugget_set for part in self.parts if part.nugget_set))

    @property
    def sets_said(self) -> str | None:
        """Their names."""
        return ", ".join(one.name for one in self.nugget_sets) or None

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
    """A support condition."""

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
        said = ", ".join(sorted({names[judge] for _, _, judge in common}))
        topics = len({topic for topic, _, _ in common})
        where = plural(
            "In %(count)s topic both sides are the labels of %(names)s: name a judge for each side.",
            "In %(count)s topics both sides are the labels of %(names)s: name a judge for each side.",
            topics,
        )
        raise Refused("ambiguous", where, count=topics, names=said)


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
    sets = [one.nugget_set for one in lists if one.nugget_set]
    judges = list(judges_of(*sets, kind=condition.judge_kind, named=judge))
    chosen = _named(condition, judges, judge, default[0])
    if chosen is None and condition.judge_kind is JudgeKind.HUMAN:
        shared = by_assigners(campaign, lists, judges)
        if shared is not None:
            return NuggetCondition(campaign, tuple(shared), condition)
    chosen = chosen or _only(condition, judges)
    return NuggetCondition(campaign, tuple(Part(one.nugget_set, chosen, one.topics) for one in lists), condition)


def resolve_citations(campaign: Campaign, condition: SupportCondition, *, judge: str = "") -> CitationCondition:
    """Return the judges that a support condition means. Raises `Refused` as `resolve` does."""
    judges = list(support_judges_of(campaign, condition, named=judge))
    chosen = _named(condition, judges, judge, _default(campaign, condition)[0])
    if chosen is None and condition is not SupportCondition.LLM:
        shared = by_support_judges(campaign, condition, judges)
        if shared is not None:
            return CitationCondition(campaign, tuple(shared), condition)
    return CitationCondition(campaign, (Part(None, chosen or _only(condition, judges)),), condition)


def lists_of(campaign: Campaign, condition: Condition) -> list[tuple[NuggetSet, Topics]]:
    """Return the sets whose lists a condition means, each with its topics. Raises `Refused` where several fit."""
    lists = _lists(campaign, condition, "", "", _default(campaign, condition)[1])
    return [(one.nugget_set, one.topics) for one in lists if one.nugget_set]


def the_nugget_set(campaign: Campaign, origin: Origin, name: str = "") -> NuggetSet:
    """Return the set of that name, or the only one of that origin.

    Raises `Refused`: `no_such_set` when nothing fits, `ambiguous` with the names when several do.
    """
    fitting = campaign.nugget_sets.filter(origin=origin, **({"name": name} if name else {}))
    names = [one.name for one in fitting]
    if len(names) == 1:
        return fitting[0]
    if names:
        raise Refused(
            "ambiguous",
            "Several %(origin)s nugget sets fit; say which: %(names)s.",
            origin=origin,
            names=", ".join(names),
        )
    there = ", ".join(campaign.nugget_sets.values_list("name", flat=True)) or word("none")
    if name:
        raise Refused(
            "no_such_set",
            "There is no %(origin)s nugget set %(name)s; there are: %(there)s.",
            origin=origin,
            name=name,
            there=there,
        )
    raise Refused(
        "no_such_set", "There is no %(origin)s nugget set; there are: %(there)s.", origin=origin, there=there
    )


def judges_of(*sets: NuggetSet, kind: JudgeKind | None = None, named: str = "") -> QuerySet[Judge]:
    """Return the judges who have labels of some sets' nuggets; of those of studies only one that is named."""
    labelled = {judge for one in sets for judge, _ in assigned(one.campaign, one.pk)}
    judges = Judge.objects.filter(kind=kind) if kind else Judge.objects.all()
    return judges.filter(Q(aside=False) | Q(name=named), pk__in=labelled).order_by("name")


def support_judges_of(campaign: Campaign, condition: SupportCondition, *, named: str = "") -> QuerySet[Judge]:
    """Return the judges who have support labels under a condition; of those of studies only one that is named."""
    labelled = {judge for judge, _ in supported(campaign, condition)}
    return Judge.objects.filter(Q(aside=False) | Q(name=named), pk__in=labelled).order_by("name")


def _default(campaign: Campaign, condition: Condition | SupportCondition) -> tuple[str, str]:
    """Return the judge and set that the campaign names for a condition, '' where it names none."""
    said = campaign.defaults.filter(condition=condition).first()
    return (said.judge, said.nuggets) if said else ("", "")


def _lists(campaign: Campaign, condition: Condition, judge: str, named: str, default: str) -> list[Part]:
    """Return the sets that a condition means, without judges. Raises `Refused`."""
    sets = list(campaign.nugget_sets.filter(origin=condition.origin))
    if named:
        return [Part(_named_set(campaign, condition, sets, named), None)]
    preferred = [one for one in sets if one.name == default]
    if preferred or len(sets) < 2:
        return [Part(one, None) for one in (preferred or sets)[:1]]
    makers = makers_sets(campaign, condition.origin)
    made_here = sets_written_at_desks(campaign) if makers else set()
    if makers and all(one.pk in made_here for one in sets):
        return by_makers(sets, makers)
    fitting = [one for one in sets if _fits(one, condition, judge)] or sets
    if makers and all(one.pk in made_here for one in fitting):
        return by_makers(sets, makers)
    if len(fitting) == 1:
        return [Part(fitting[0], None)]
    names = ", ".join(one.name for one in fitting)
    raise Refused(
        "ambiguous",
        "Several nugget sets fit %(condition)s; say which with --nuggets: %(names)s.",
        condition=condition,
        names=names,
    )


def _named_set(campaign: Campaign, condition: Condition, sets: list[NuggetSet], named: str) -> NuggetSet:
    for one in sets:
        if one.name == named:
            return one
    there = ", ".join(one.name for one in sets) or word("none")
    raise Refused(
        "no_such_set",
        "%(condition)s has no nugget set %(named)s in %(campaign)s; there are: %(there)s.",
        condition=condition,
        named=named,
        campaign=campaign.slug,
        there=there,
    )


def _fits(nugget_set: NuggetSet, condition: Condition, judge: str) -> bool:
    judges = judges_of(nugget_set, kind=condition.judge_kind, named=judge)
    return (judges.filter(name=judge) if judge else judges).exists()


def _named(condition: Condition | SupportCondition, judges: list[Judge], named: str, default: str) -> Judge | None:
    """Return the judge that is named, or the campaign's default; None where none is. Raises `Refused`."""
    wanted = named or default
    for one in judges:
        if one.name == wanted:
            return one
    if named:
        names = ", ".join(one.name for one in judges)
        raise Refused(
            "no_such_judge",
            "%(named)s has no labels under %(condition)s; there are: %(names)s.",
            named=named,
            condition=condition,
            names=names or word("none"),
        )
    return None


def _only(condition: Condition | SupportCondition, judges: list[Judge]) -> Judge | None:
    """Return the only judge; None where there is none. Raises `Refused` where there are several."""
    if len(judges) > 1:
        names = ", ".join(one.name for one in judges)
        raise Refused(
            "ambiguous",
            "Several judges fit %(condition)s; say which with --judge: %(names)s.",
            condition=condition,
            names=names,
        )
    return judges[0] if judges else None
