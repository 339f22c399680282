"""Whose work counts in each topic, where several people share a campaign's topics.

Each person makes lists in a set of their own, and gives labels as a judge of their own. What was handed out says whose
is meant in a topic: there is at most one task that is no second opinion.
"""

from collections.abc import Collection

from django.db.models import QuerySet

from evaluation.models import Campaign, Judge, Task
from evaluation.terms import Origin, Stage, SupportCondition


def makers_sets(campaign: Campaign, origin: Origin) -> dict[int, int]:
    """Return the set whose list counts, by topic, as far as the lists of this origin are made at desks."""
    stages = [stage for stage in Stage if not stage.judges and stage.origin is origin]
    tasks = _counting(campaign).filter(stage__in=stages)
    return dict(tasks.values_list("topic__pk", "nugget_set"))


def made_here(campaign: Campaign) -> set[int]:
    """Return the sets whose lists are made at desks, by people who share the topics."""
    tasks = Task.objects.filter(campaign=campaign).exclude(nugget_set=None).exclude(stage=Stage.ASSIGN)
    return set(tasks.order_by().values_list("nugget_set", flat=True).distinct())


def second_lists(campaign: Campaign) -> set[tuple[int, int]]:
    """Return topic and set of the lists that are second opinions."""
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
    """Return topic and judge of the second opinions on the nuggets of a set."""
    tasks = _second(campaign).filter(stage=Stage.ASSIGN, nugget_set=nugget_set)
    return _by_judge(campaign, tasks)


def second_support_judges(campaign: Campaign, condition: SupportCondition) -> set[tuple[int, int]]:
    """Return topic and judge of the second opinions under a support condition."""
    return _by_judge(campaign, _second(campaign).filter(stage__in=_stages(condition)))


def _stages(condition: SupportCondition) -> list[Stage]:
    return [stage for stage in Stage if stage.condition is condition]


def _tasks(campaign: Campaign) -> QuerySet[Task]:
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
