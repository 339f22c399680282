"""Desks of judging stages: the class that draws up, checks and freezes what their assessors say."""

from typing import Final

from assessor.desk.battle_labels import BattleDesk
from assessor.desk.citation_labels import CitationDesk, ShownLabelDesk
from assessor.desk.nugget_labels import NuggetDesk
from assessor.desk.task_labels import JudgingDesk
from evaluation.stages import ASSIGN, BATTLE, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage

DESKS: Final[dict[Stage, type[JudgingDesk]]] = {
    ASSIGN: NuggetDesk,
    SUPPORT_SCRATCH: CitationDesk,
    SUPPORT_POST_EDIT: ShownLabelDesk,
    BATTLE: BattleDesk,
}
"""Of the stages that ask something else than one question about each answer."""


def desk_of(stage: Stage) -> JudgingDesk:
    return DESKS.get(stage, JudgingDesk)(stage)
