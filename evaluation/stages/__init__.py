"""Stages, a module each: their words, labels, practice and cost."""

from typing import Final

from evaluation.labels import LabelSet
from evaluation.stages import support
from evaluation.stages.assign import ASSIGN
from evaluation.stages.base import StageEntry
from evaluation.stages.manual import MANUAL
from evaluation.stages.post_edit import POST_EDIT
from evaluation.terms import Stage

STAGES: Final = {entry.stage: entry for entry in (POST_EDIT, MANUAL, ASSIGN, support.SCRATCH, support.POST_EDIT)}


def stage_of(stage: str) -> StageEntry:
    return STAGES[Stage(stage)]


def labels_of_stage(stage: str) -> LabelSet:
    """Labels that people give at a stage; none of a stage at which they make a list."""
    return stage_of(stage).labels
