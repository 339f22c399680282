"""Stages, a module each: their words, labels, practice and cost."""

from evaluation.stages.assign import Assign
from evaluation.stages.base import STAGES, Stage, stage_of, stage_of_study
from evaluation.stages.battle import CompareAnswers
from evaluation.stages.grade import GradePassages
from evaluation.stages.manual import Manual
from evaluation.stages.post_edit import PostEdit
from evaluation.stages.support import LabelShown, Unaided

__all__ = [
    "ASSIGN",
    "BATTLE",
    "GRADE",
    "MANUAL",
    "POST_EDIT",
    "STAGES",
    "SUPPORT_POST_EDIT",
    "SUPPORT_SCRATCH",
    "Stage",
    "stage_of",
    "stage_of_study",
]

POST_EDIT = PostEdit("post-edit")
MANUAL = Manual("manual")
ASSIGN = Assign("assign")
SUPPORT_SCRATCH = Unaided("support-scratch")
SUPPORT_POST_EDIT = LabelShown("support-post-edit")
GRADE = GradePassages("grade")
BATTLE = CompareAnswers("battle")

STAGES.update(
    {stage: stage for stage in (POST_EDIT, MANUAL, ASSIGN, SUPPORT_SCRATCH, SUPPORT_POST_EDIT, GRADE, BATTLE)}
)
