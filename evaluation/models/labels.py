"""The judgments. One current row per judge, item and submission; the event log is the history."""

from django.db import models
from django.db.models import Q

from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models.campaigns import Event
from evaluation.models.corpus import Segment, Topic
from evaluation.models.fields import StageField, choices_of
from evaluation.models.judges import Judge
from evaluation.models.nuggets import NuggetVersion
from evaluation.models.querysets import CurrentQuerySet
from evaluation.models.runs import Answer, Sentence
from evaluation.terms import SupportCondition


class JudgedLabel(models.Model):
    """Common columns of submitted labels. A reopened task's labels are further rows: none is overwritten."""

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+")
    submission = models.PositiveSmallIntegerField(default=1)
    label = models.PositiveSmallIntegerField()
    raw = models.TextField(blank=True, help_text="what was said, where it is not one of the labels")
    stands = models.BooleanField(
        default=True,
        db_default=True,
        help_text="false: a later submission takes its place, or the work was withdrawn",
    )
    given_at = models.DateTimeField()
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)

    class Meta:
        abstract = True


class Judgment(JudgedLabel):
    """Label of one unit of a stage without a table of its own, by one judge.

    `unit`: its key at the desk, such as an answer's public id; what it is made of is in the columns that are not empty:
    an answer, with an `other` a pair of them, or a passage of the topic. `extras`: what else its stage records.
    """

    stage = StageField()
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    unit = models.CharField(max_length=36)
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, null=True, related_name="+")
    other = models.ForeignKey(Answer, on_delete=models.PROTECT, null=True, related_name="+")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, null=True, related_name="+")
    extras = models.JSONField(default=dict)

    objects = CurrentQuerySet["Judgment"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["stage", "topic", "unit", "judge", "submission"], name="judgment_once"
            ),
            models.CheckConstraint(
                condition=Q(answer__isnull=False) | Q(segment__isnull=False), name="judgment_of_something"
            ),
        ]

    def __str__(self) -> str:
        return self.stage.labels.by_code[self.label].word


class Assignment(JudgedLabel):
    """Label of one nugget in one answer, by one judge. Nothing leads here from the answer or the nugget."""

    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="+", db_index=False)
    nugget_version = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, related_name="+", db_index=False)
    sentence = models.PositiveIntegerField(null=True, help_text="of the answer, from 0: where the nugget is")
    first_label = models.PositiveSmallIntegerField(
        null=True, choices=NUGGET_LABELS.choices, help_text="before the nugget sweep changed it"
    )

    objects = CurrentQuerySet["Assignment"].as_manager()

    class Meta:
        # Judges by nugget are read from it alone: from the rows it took 25 times as long.
        indexes = [models.Index(fields=["nugget_version", "judge", "stands"], name="assignment_of_nugget")]
        constraints = [
            models.UniqueConstraint(
                fields=["answer", "nugget_version", "judge", "submission"], name="assignment_once"
            ),
            models.CheckConstraint(condition=Q(label__in=sorted(NUGGET_LABELS.by_code)), name="assignment_label"),
        ]

    def __str__(self) -> str:
        return NUGGET_LABELS.by_code[self.label].word


class SupportJudgment(JudgedLabel):
    """Label of one cited segment for one answer sentence, by one judge under one condition."""

    condition = models.CharField(max_length=10, choices=choices_of(SupportCondition))
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="+", db_index=False)
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="+")
    shown_label = models.PositiveSmallIntegerField(
        null=True, choices=CITATION_LABELS.choices, help_text="the machine's, where it was on the screen"
    )
    shown_ms = models.PositiveIntegerField(null=True, help_text="from when it was shown to the first decision")
    accepted = models.BooleanField(null=True, help_text="whether the label was taken over from the machine")
    evidence = models.PositiveIntegerField(
        null=True, help_text="sentence of the segment, from 0, that its judge marked"
    )
    quote = models.TextField(
        default="", db_default="", help_text="words of the segment on which an LLM rests its label"
    )

    objects = CurrentQuerySet["SupportJudgment"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sentence", "segment", "judge", "condition", "submission"], name="support_judgment_once"
            ),
            models.CheckConstraint(
                condition=Q(label__in=sorted(CITATION_LABELS.by_code)), name="support_judgment_label"
            ),
            models.CheckConstraint(
                condition=Q(condition__in=list(SupportCondition)), name="support_judgment_condition"
            ),
        ]

    def __str__(self) -> str:
        return CITATION_LABELS.by_code[self.label].word
