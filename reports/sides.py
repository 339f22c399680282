"""Sides of a comparison of labels by name: conditions, stages without tables of their own, sources of grades."""

from typing import Final, TypeAlias

from evaluation.domain.conditions import CitationCondition, NuggetCondition, condition_named
from evaluation.domain.stage_labels import StageCondition, resolve_stage, stages_of_judgments
from evaluation.errors import no_such
from evaluation.models import Campaign, QrelSource
from evaluation.terms import Condition, SupportCondition

GRADES: Final = "qrels:"
"""Before the name of a source of qrels, which may be called like a condition."""

OTHER_SIDES: Final = (
    f"{', '.join(SupportCondition)}, the code of a stage that judges something else, or {GRADES}NAME of a source of "
    "grades"
)
"""Beside conditions of nugget labels, in words."""

LabelSide: TypeAlias = NuggetCondition | CitationCondition | StageCondition | QrelSource


def side_named(campaign: Campaign, name: str, *, judge: str = "", nuggets: str = "") -> LabelSide:
    """Return what a side's name means. Raises `Refused`: `no_such_side`, `no_such_source`, and as `resolve` does."""
    if name.startswith(GRADES):
        sources = {source.name: source for source in campaign.qrel_sources.all()}
        if (source := sources.get(side_text(name))) is None:
            raise no_such("no_such_source", f"source of grades {side_text(name)}", sources)
        return source
    if name in [*Condition, *SupportCondition]:
        return condition_named(campaign, name, judge=judge, nuggets=nuggets)
    stages = {str(stage): stage for stage in stages_of_judgments()}
    if name not in stages:
        grades = [f"{GRADES}{source}" for source in campaign.qrel_sources.values_list("name", flat=True)]
        raise no_such("no_such_side", f"side {name}", [*Condition, *SupportCondition, *stages, *grades])
    return resolve_stage(campaign, stages[name], judge=judge)


def side_text(name: str) -> str:
    return name.removeprefix(GRADES)
