"""The domain's rows. Tables that an assessor may see are apart from tables that they may not.

Large tables keep no second index for a column with which a unique constraint begins, nor one on their event.
"""

from evaluation.models.battles import Battle, BattleSet, SampledBattle, Verdict
from evaluation.models.campaigns import Campaign, ConditionDefault, Event, Finding, Membership, Protocol
from evaluation.models.corpus import Candidate, Qrel, QrelSource, Segment, Topic, TopicTag
from evaluation.models.judges import Judge
from evaluation.models.labels import Assignment, Judgment, SupportJudgment
from evaluation.models.nuggets import (
    ListedNugget,
    Nugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    NuggetSet,
    NuggetVersion,
)
from evaluation.models.runs import Answer, AnswerProvenance, Citation, Run, Sentence
from evaluation.models.studies import RandomCheckPair, Study, StudyPair
from evaluation.models.tasks import Remark, Submission, Task, TaskAnswer

__all__ = [
    "Answer",
    "AnswerProvenance",
    "Assignment",
    "Battle",
    "BattleSet",
    "Campaign",
    "Candidate",
    "Citation",
    "ConditionDefault",
    "Event",
    "Finding",
    "Judge",
    "Judgment",
    "ListedNugget",
    "Membership",
    "Nugget",
    "NuggetEvidence",
    "NuggetLineage",
    "NuggetList",
    "NuggetSet",
    "NuggetVersion",
    "Protocol",
    "Qrel",
    "QrelSource",
    "RandomCheckPair",
    "Remark",
    "Run",
    "SampledBattle",
    "Segment",
    "Sentence",
    "Study",
    "StudyPair",
    "Submission",
    "SupportJudgment",
    "Task",
    "TaskAnswer",
    "Topic",
    "TopicTag",
    "Verdict",
]
