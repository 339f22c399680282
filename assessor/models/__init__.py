"""Work in the making at the desks, and practice: rows that only desks write and that no report reads."""

from assessor.models.desk import Desk, MarkedPassage, Operation, TimeSegment, WorkingNugget
from assessor.models.labels import WorkingAssignment, WorkingSupport
from assessor.models.practice import PracticeAnswer, PracticeItem

__all__ = [
    "Desk",
    "MarkedPassage",
    "Operation",
    "PracticeAnswer",
    "PracticeItem",
    "TimeSegment",
    "WorkingAssignment",
    "WorkingNugget",
    "WorkingSupport",
]
