"""Labels of stages without tables of their own, as conditions: a stage, and the judges whose labels count."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from django.db.models import Q, QuerySet

from evaluation.domain.conditions import ALL_PEOPLE, Choice, only_judge
from evaluation.domain.shares import Part, first_of, shared_parts, tasks_of
from evaluation.errors import Refused
from evaluation.models import Campaign, Judge, Judgment
from evaluation.stages import STAGES, Stage
from evaluation.terms import JudgeKind


@dataclass(frozen=True, slots=True)
class StageCondition(Choice):
    stage: Stage

    def __str__(self) -> str:
        return self.stage


def stages_of_judgments() -> list[Stage]:
    """Return the stages whose labels are compared as such: grades are as sources of qrels, verdicts in their report."""
    return [
        stage
        for stage in STAGES.values()
        if stage.judges and not (stage.by_list or stage.condition or stage.gives_grades or stage.dealt)
    ]


def stage_judges_of(campaign: Campaign, stage: Stage, *, name: str = "") -> QuerySet[Judge]:
    """Return the judges who have labels of a stage; a judge of a study only where it is named."""
    judges = _labels(campaign, stage).values("judge")
    return Judge.objects.filter(Q(aside=False) | Q(name=name), pk__in=judges).order_by("name")


def resolve_stage(campaign: Campaign, stage: Stage, *, judge: str = "") -> StageCondition:
    """Return the judges that a side means: the one named, else the people who share the topics, else the only one.

    Raises `Refused`: `no_such_judge` where the named one has no labels here, `ambiguous` where several fit.
    """
    judges = list(stage_judges_of(campaign, stage, name=judge))
    if judge not in ("", ALL_PEOPLE):
        giver = next((each for each in judges if each.name == judge), None)
        if giver is None:
            there = ", ".join(each.name for each in judges) or "none"
            raise Refused("no_such_judge", f"{judge} has no labels under {stage}; there are: {there}.")
        return StageCondition(campaign, (Part(None, giver),), stage)
    people = [each for each in judges if each.kind == JudgeKind.HUMAN]
    if judge == ALL_PEOPLE or len(people) == len(judges):
        judged_topics = frozenset(
            _labels(campaign, stage).order_by().values_list("judge__pk", "topic__pk").distinct()
        )
        tasks = tasks_of(campaign).filter(stage=stage)
        work = [(Part(None, None), judged_topics, tasks, partial(_first_judges, campaign, stage))]
        return StageCondition(campaign, tuple(shared_parts(campaign, work, people)), stage)
    return StageCondition(campaign, (Part(None, only_judge(judges, stage)),), stage)


def _labels(campaign: Campaign, stage: Stage) -> QuerySet[Judgment]:
    return Judgment.objects.current().filter(topic__campaign=campaign, stage=stage)


def _first_judges(
    campaign: Campaign, stage: Stage, topics: Collection[int], judges: Collection[int]
) -> dict[int, int]:
    labels = _labels(campaign, stage).filter(topic__in=topics, judge__in=judges)
    return first_of(labels.values_list("topic", "judge"))
