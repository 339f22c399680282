"""The work that people are handed: tasks, the answers to judge, submissions, and remarks to the organizers."""

from functools import reduce
from operator import or_

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models.campaigns import Campaign, Event, Protocol
from evaluation.models.corpus import QrelSource, Segment, Topic
from evaluation.models.fields import StageField, choices_of, new_public_id
from evaluation.models.judges import Judge
from evaluation.models.nuggets import NuggetList, NuggetSet
from evaluation.models.querysets import TaskQuerySet
from evaluation.models.runs import Answer
from evaluation.rules.tasks import ACTIVE
from evaluation.stages import STAGES
from evaluation.terms import RemarkKind, TaskState

ABLE = ("nugget_set", "drafts", "qrels", "judge")


def _needed(stages: Q, *names: str) -> Q:
    """Return the condition that tasks of some stages have just these of the things that stages work on."""
    return stages & Q(**{f"{name}__isnull": name not in names for name in ABLE})


# Written as texts: a migration must not need the stages of today.
_NEEDING = {str(stage): stage.needs for stage in STAGES.values() if stage.needs}
_NEEDED = reduce(
    or_, (_needed(Q(stage=stage), *names) for stage, names in _NEEDING.items()), _needed(~Q(stage__in=[*_NEEDING]))
)
_BY_LIST = Q(stage__in=[str(stage) for stage in STAGES.values() if stage.by_list])
_DEALT = Q(stage__in=[str(stage) for stage in STAGES.values() if stage.dealt])
_OF_STUDIES = Q(stage__in=[str(stage) for stage in STAGES.values() if stage.study])

_COUNTS = ~Q(state=TaskState.WITHDRAWN) & Q(second_opinion=False)


class Task(models.Model):
    """One stage of one topic, handed to one assessor. Locks exist only against the assessor's own other windows."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    assessor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    stage = StageField()
    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    state = models.CharField(max_length=12, choices=choices_of(TaskState), default=TaskState.NOT_STARTED)
    version = models.PositiveSmallIntegerField(default=1, help_text="the submission being made, or made last")
    nugget_set = models.ForeignKey(
        NuggetSet,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="what is made, or assigned",
    )
    drafts = models.ForeignKey(
        NuggetList,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="what is post-edited",
    )
    qrels = models.ForeignKey(
        QrelSource,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="whose grades choose the passages",
    )
    judge = models.ForeignKey(
        Judge,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="whose support labels are shown",
    )
    study = models.ForeignKey(
        "evaluation.Study",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="whose pairs are asked about, instead of everything",
    )
    # As it was at the hand-out: a later version must not change work that is going on.
    protocol = models.ForeignKey(Protocol, on_delete=models.PROTECT, related_name="+")
    second_opinion = models.BooleanField(
        default=False, help_text="beside somebody else's: its labels enter no score unless their judge is named"
    )
    priority = models.PositiveSmallIntegerField(default=0, help_text="higher is done first")
    due = models.DateField(null=True, blank=True)
    expected_minutes = models.PositiveIntegerField(default=0)
    blocked_reason = models.TextField(blank=True)
    reopened_reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)

    objects = TaskQuerySet["Task"].as_manager()

    class Meta:
        ordering = ["-priority", "due", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["topic", "assessor", "stage"],
                condition=~Q(state=TaskState.WITHDRAWN) & ~_BY_LIST & ~_DEALT & Q(study=None),
                name="task_once",
            ),
            models.UniqueConstraint(
                fields=["topic", "assessor", "nugget_set"],
                condition=~Q(state=TaskState.WITHDRAWN) & _BY_LIST & Q(study=None),
                name="task_assign_once",
            ),
            models.UniqueConstraint(
                fields=["topic", "stage"],
                condition=_COUNTS & ~_BY_LIST & ~_DEALT,
                name="task_one_that_counts",
            ),
            models.UniqueConstraint(
                fields=["topic", "nugget_set"],
                condition=_COUNTS & _BY_LIST,
                name="task_assign_one_that_counts",
            ),
            models.UniqueConstraint(
                fields=["study", "topic", "assessor"],
                condition=~Q(state=TaskState.WITHDRAWN) & Q(study__isnull=False),
                name="task_study_once",
            ),
            models.CheckConstraint(
                condition=Q(study=None) | _OF_STUDIES,
                name="task_study_judges_blind",
            ),
            models.CheckConstraint(condition=Q(state__in=list(TaskState)), name="task_state"),
            models.CheckConstraint(condition=_NEEDED, name="task_has_what_its_stage_needs"),
        ]
        indexes = [models.Index(fields=["assessor", "state"], name="task_by_assessor")]

    def __str__(self) -> str:
        return f"{self.stage} {self.topic}"

    @property
    def is_late(self) -> bool:
        return self.state in ACTIVE and self.due is not None and self.due < timezone.localdate()

    @property
    def nuggets(self) -> NuggetSet:
        """The set that the task makes or assigns. Raises ValueError where support is judged."""
        if self.nugget_set is None:
            raise ValueError(f"{self} has no nuggets")
        return self.nugget_set


class TaskAnswer(models.Model):
    """An answer to judge, or a passage, or a battle of two answers, at its place in the order of this task.

    Answers and passages are shuffled, by a seed, so that the order reveals no run; battles are in their walk.

    `same_as`: another answer of the task with the very same text, whose labels serve for this one too.
    `changed_sides`: the battle's left answer is on the right.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, null=True, related_name="+")
    segment = models.ForeignKey(
        Segment,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="instead of an answer",
    )
    battle = models.ForeignKey(
        "evaluation.Battle",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="instead of an answer",
    )
    changed_sides = models.BooleanField(default=False)
    position = models.PositiveIntegerField()
    same_as = models.ForeignKey(Answer, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    seen_at = models.DateTimeField(null=True, blank=True, help_text="when the assessor first had it on the screen")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["task", "answer"], name="task_answer_once"),
            models.UniqueConstraint(fields=["task", "segment"], name="task_answer_segment_once"),
            models.UniqueConstraint(fields=["task", "battle"], name="task_answer_battle_once"),
            models.UniqueConstraint(fields=["task", "position"], name="task_answer_position"),
            models.CheckConstraint(
                condition=Q(answer__isnull=False, segment=None, battle=None)
                | Q(answer=None, segment__isnull=False, battle=None)
                | Q(answer=None, segment=None, battle__isnull=False),
                name="task_answer_of_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.position + 1}. {self.answer or self.segment or self.battle}"

    @property
    def unit(self) -> int:
        """Key of what stands there, an answer, a passage or a battle."""
        return self.answer_id or self.segment_id or self.battle_id or 0


class Submission(models.Model):
    """One submitted version of a task's work. Frozen: reopening starts the next one from a copy."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="submissions", db_index=False)
    version = models.PositiveSmallIntegerField()
    nugget_list = models.OneToOneField(
        NuggetList,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        help_text="empty where answers are judged",
    )
    labels = models.PositiveIntegerField(default=0, help_text="how many were given")
    at = models.DateTimeField()
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        ordering = ["version"]
        constraints = [models.UniqueConstraint(fields=["task", "version"], name="submission_version")]

    def __str__(self) -> str:
        return f"{self.task} v{self.version}"

    @property
    def frozen_list(self) -> NuggetList:
        """The list that was frozen. Raises ValueError where answers were judged."""
        if self.nugget_list is None:
            raise ValueError(f"{self} has no nuggets")
        return self.nugget_list


class Remark(models.Model):
    """A comment, flag, reopen request or note of an interruption. Organizers read it; other assessors never do."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="remarks")
    public_id = models.CharField(max_length=36, unique=True, default=new_public_id, editable=False)
    kind = models.CharField(max_length=20, choices=choices_of(RemarkKind))
    about = models.CharField(
        max_length=200, blank=True, help_text="the nugget or passage meant, as the screen names it"
    )
    text = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    answer = models.TextField(blank=True)

    class Meta:
        ordering = ["-at"]
        constraints = [models.CheckConstraint(condition=Q(kind__in=list(RemarkKind)), name="remark_kind")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.text[:60]}"
