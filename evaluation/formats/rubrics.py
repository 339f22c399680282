"""Rubrics, lists of weighted criteria, as ResearchRubrics and RAGDoll write them: a criterion is a nugget.

RAGDoll has `{qid, query, criteria: [{text, type, tier, weight, ...}]}`, ResearchRubrics
`{qid, rubrics: [{criterion, weight, axis}]}`.
"""

from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, Field

from evaluation.formats.lines import Wording, json_line, with_extra
from evaluation.formats.nuggets import ListLine, NuggetItem, NuggetListRow, NuggetRecord, importance_word

TIERS: Final = {"mandatory": "vital", "optional": "okay"}
TIER_OF: Final = {word: tier for tier, word in TIERS.items()}

Tier = Annotated[str, AfterValidator(lambda tier: TIERS.get(tier, tier))]
"""Importance of a criterion; another word is kept as one of unknown importance."""


class Criterion(NuggetItem):
    importance: Tier | None = Field(default=None, alias="tier")
    group: str | None = Field(default=None, alias="type")


class ResearchCriterion(NuggetItem):
    text: Wording = Field(alias="criterion")
    importance: Tier | None = Field(default=None, alias="tier")
    group: str | None = Field(default=None, alias="axis")


class RubricLine(ListLine):
    items_key: ClassVar[str] = "criteria"
    importance_key: ClassVar[str] = "tier"
    criteria: list[Criterion]


class ResearchRubricLine(ListLine):
    items_key: ClassVar[str] = "rubrics"
    importance_key: ClassVar[str] = "tier"
    rubrics: list[ResearchCriterion]


RUBRICS: Final = (RubricLine, ResearchRubricLine)


def rubric_line(row: NuggetListRow) -> str:
    fields = {"text": "text", "group": "type"}
    return json_line(
        _head(row) | {"criteria": [_criterion(nugget, **fields) for nugget in row.nuggets]}, row.extra
    )


def research_rubrics_line(row: NuggetListRow) -> str:
    fields = {"text": "criterion", "group": "axis"}
    return json_line(_head(row) | {"rubrics": [_criterion(nugget, **fields) for nugget in row.nuggets]}, row.extra)


def _head(row: NuggetListRow) -> dict[str, Any]:
    return {"qid": row.topic_id, "query": row.query or None}


def _criterion(nugget: NuggetRecord, text: str, group: str) -> dict[str, Any]:
    word = importance_word(nugget.importance, nugget.raw_importance)
    fields = {text: nugget.text, group: nugget.group or None, "tier": tier_of(word), "weight": nugget.weight}
    return with_extra(fields, nugget.extra)


def tier_of(importance: str) -> str | None:
    """Return the word of a rubric for an importance; None where there is none."""
    return TIER_OF.get(importance, importance) or None
