"""What a condition means in a campaign: which nugget set and whose labels."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluation.errors import Refused
from evaluation.models import Assignment, Campaign, Judge, NuggetSet, SupportJudgment
from evaluation.terms import Condition, JudgeKind, SupportCondition


@dataclass(frozen=True, slots=True)
class ConditionChoice:
    """A condition of nugget scores with its set and judge; None where the campaign has none that fits."""

    campaign: Campaign
    condition: Condition
    nugget_set: NuggetSet | None
    judge: Judge | None

    def __str__(self) -> str:
        return self.condition


@dataclass(frozen=True, slots=True)
class SupportChoice:
    """A support condition and its judge; None where nobody has judged yet."""

    campaign: Campaign
    condition: SupportCondition
    judge: Judge | None

    def __str__(self) -> str:
        return self.condition


def resolve_condition(
    campaign: Campaign, condition: Condition, *, judge: str = "", nuggets: str = ""
) -> ConditionChoice:
    """Return the set and judge a condition means: the named ones, else the campaign's default, else the only ones.

    Sets and judges fit when they have labels together; a set without any fits where none has.
    Raises `Refused`: `ambiguous` with the names where several fit, `no_such_set` or `no_such_judge` where the
    named one does not exist or has no labels here.
    """
    default = _default(campaign, condition)
    nugget_set = _nugget_set(campaign, condition, judge, nuggets, default[1])
    if nugget_set is None:
        return ConditionChoice(campaign, condition, None, None)
    judges = list(judges_of(nugget_set, condition.judge_kind, named=judge))
    return ConditionChoice(campaign, condition, nugget_set, _judge(condition, judges, judge, default[0]))


def resolve_support(campaign: Campaign, condition: SupportCondition, *, judge: str = "") -> SupportChoice:
    """Return the judge that a support condition means. Raises `Refused` as `resolve_condition` does."""
    judges = list(support_judges_of(campaign, condition, named=judge))
    return SupportChoice(campaign, condition, _judge(condition, judges, judge, _default(campaign, condition)[0]))


def judges_of(nugget_set: NuggetSet, kind: JudgeKind | None = None, *, named: str = "") -> QuerySet[Judge]:
    """Return the judges who have labels of a set's nuggets; of those of studies only one that is named."""
    labels = Assignment.objects.filter(
        judge=OuterRef("pk"), nugget_version__nugget__nugget_set=nugget_set, stands=True
    )
    judges = Judge.objects.filter(kind=kind) if kind else Judge.objects.all()
    return judges.filter(Q(aside=False) | Q(name=named), Exists(labels)).order_by("name")


def support_judges_of(campaign: Campaign, condition: SupportCondition, *, named: str = "") -> QuerySet[Judge]:
    """Return the judges who have support labels under a condition; of those of studies only one that is named."""
    labels = SupportJudgment.objects.filter(
        judge=OuterRef("pk"), condition=condition, sentence__answer__topic__campaign=campaign, stands=True
    )
    return Judge.objects.filter(Q(aside=False) | Q(name=named), Exists(labels)).order_by("name")


def _default(campaign: Campaign, condition: Condition | SupportCondition) -> tuple[str, str]:
    """Return the judge and set that the campaign names for a condition, '' where it names none."""
    said = campaign.defaults.filter(condition=condition).first()
    return (said.judge, said.nuggets) if said else ("", "")


def _nugget_set(
    campaign: Campaign, condition: Condition, judge: str, named: str, default: str
) -> NuggetSet | None:
    sets = list(campaign.nugget_sets.filter(origin=condition.origin))
    if named:
        return _named_set(campaign, condition, sets, named)
    preferred = [one for one in sets if one.name == default]
    if preferred or len(sets) < 2:
        return next(iter(preferred or sets), None)
    labelled = [one for one in sets if _fits(one, condition, judge)]
    if len(labelled) == 1:
        return labelled[0]
    names = ", ".join(one.name for one in labelled or sets)
    raise Refused("ambiguous", f"Several nugget sets fit {condition}; say which with --nuggets: {names}.")


def _named_set(campaign: Campaign, condition: Condition, sets: list[NuggetSet], named: str) -> NuggetSet:
    for one in sets:
        if one.name == named:
            return one
    there = ", ".join(one.name for one in sets) or "none"
    raise Refused("no_such_set", f"{condition} has no nugget set {named} in {campaign.slug}; there are: {there}.")


def _fits(nugget_set: NuggetSet, condition: Condition, judge: str) -> bool:
    judges = judges_of(nugget_set, condition.judge_kind, named=judge)
    return (judges.filter(name=judge) if judge else judges).exists()


def _judge(condition: Condition | SupportCondition, judges: list[Judge], named: str, default: str) -> Judge | None:
    names = ", ".join(one.name for one in judges)
    wanted = named or default
    for one in judges:
        if one.name == wanted:
            return one
    if named:
        raise Refused("no_such_judge", f"{named} has no labels under {condition}; there are: {names or 'none'}.")
    if len(judges) > 1:
        raise Refused("ambiguous", f"Several judges fit {condition}; say which with --judge: {names}.")
    return judges[0] if judges else None
