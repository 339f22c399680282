"""Judging in the making: the labels given so far.

Nothing here leads to runs, judges or LLM labels: what is not stored here cannot reach a judging desk. Submitting
copies the labels to `Assignment` and `SupportJudgment`, where reports read them.
"""

from django.db import models
from django.db.models import Q

from evaluation.models.corpus import Segment
from evaluation.models.fields import codes_of
from evaluation.models.nuggets import NuggetVersion
from evaluation.models.runs import Answer, Sentence
from evaluation.models.tasks import Task
from evaluation.terms import AssignmentLabel, SupportLabel

GIVEN_BY_PEOPLE = [0, 1, 2, AssignmentLabel.CANT_JUDGE]
"""A person's label never ends `failed`."""


class WorkingLabel(models.Model):
    """Common columns of the two kinds of label in the making. No label: it was cleared."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    version = models.PositiveIntegerField(default=1, help_text="goes up with every change")
    reason = models.TextField(blank=True, help_text="why it cannot be judged")

    class Meta:
        abstract = True


class WorkingAssignment(WorkingLabel):
    """Whether an answer contains a nugget, as its assessor says so far."""

    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="+")
    nugget_version = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, related_name="+")
    label = models.PositiveSmallIntegerField(null=True, choices=codes_of(AssignmentLabel))
    sentence = models.PositiveIntegerField(null=True, help_text="of the answer, from 0: where the nugget is")
    first_label = models.PositiveSmallIntegerField(
        null=True, choices=codes_of(AssignmentLabel), help_text="before the nugget sweep changed it"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "answer", "nugget_version"], name="working_assignment_once"),
            models.CheckConstraint(
                condition=Q(label=None) | Q(label__in=GIVEN_BY_PEOPLE), name="working_assignment_label"
            ),
        ]

    def __str__(self) -> str:
        return "cleared" if self.label is None else AssignmentLabel(self.label).name.lower()


class WorkingSupport(WorkingLabel):
    """Whether a cited segment supports a sentence, as its assessor says so far.

    `shown_label` is the machine's label that was on the screen, where the condition shows one; `shown_ms` how long
    it had been there when the first decision fell; `accepted` whether the label was taken over from it.
    """

    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="+")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="+")
    label = models.PositiveSmallIntegerField(null=True, choices=codes_of(SupportLabel))
    shown_label = models.PositiveSmallIntegerField(null=True, choices=codes_of(SupportLabel))
    shown_ms = models.PositiveIntegerField(null=True)
    accepted = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "sentence", "segment"], name="working_support_once"),
            models.CheckConstraint(
                condition=Q(label=None) | Q(label__in=GIVEN_BY_PEOPLE), name="working_support_label"
            ),
            models.CheckConstraint(
                condition=Q(accepted=False) | Q(shown_label__isnull=False),
                name="working_support_accepted_of_shown",
            ),
        ]

    def __str__(self) -> str:
        return "cleared" if self.label is None else SupportLabel(self.label).name.lower()
