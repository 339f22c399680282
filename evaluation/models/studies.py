"""Disagreement studies: pairs on which a person and an LLM differ, drawn once, to be judged again by others.

The labels of those others are where all labels are, under judges of the study's own (`Judge.study`).
"""

from django.db import models
from django.db.models import F, Q

from evaluation.models.campaigns import Campaign
from evaluation.models.corpus import Segment, Topic
from evaluation.models.events import Event
from evaluation.models.fields import choices_of
from evaluation.models.judges import Judge
from evaluation.models.nuggets import NuggetSet, NuggetVersion
from evaluation.models.runs import Answer, Sentence
from evaluation.terms import StudyKind, SupportCondition

REAL_LABELS = [0, 1, 2]
"""A label that failed or that nobody could give is no disagreement."""

BY_PEOPLE = [SupportCondition.SCRATCH, SupportCondition.POST_EDIT]


class Study(models.Model):
    """Two judges whose labels are compared, and how pairs were drawn. `condition`: under which the person judged
    support.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=10, choices=choices_of(StudyKind))
    person = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+")
    machine = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+")
    nugget_set = models.ForeignKey(NuggetSet, on_delete=models.PROTECT, null=True, related_name="+")
    condition = models.CharField(max_length=10, blank=True, choices=choices_of(SupportCondition))
    per_topic = models.PositiveSmallIntegerField(default=15)
    stratified = models.BooleanField(default=False)
    seed = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "studies"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="study_once"),
            models.CheckConstraint(condition=~Q(name=""), name="study_has_name"),
            models.CheckConstraint(condition=Q(per_topic__gte=1), name="study_draws"),
            models.CheckConstraint(condition=~Q(person=F("machine")), name="study_of_two_judges"),
            models.CheckConstraint(
                condition=Q(kind=StudyKind.ASSIGNMENT, nugget_set__isnull=False, condition="")
                | Q(kind=StudyKind.SUPPORT, nugget_set=None, condition__in=BY_PEOPLE),
                name="study_has_what_its_kind_needs",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class StudyPair(models.Model):
    """One pair with the two labels on which it was drawn. Never changed: what comes of those labels has no effect."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+", db_index=False)
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="+")
    nugget_version = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, null=True, related_name="+")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, null=True, related_name="+")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, null=True, related_name="+")
    person_label = models.PositiveSmallIntegerField()
    machine_label = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "answer", "nugget_version"], name="study_nugget_once"),
            models.UniqueConstraint(fields=["study", "sentence", "segment"], name="study_citation_once"),
            models.CheckConstraint(
                condition=Q(nugget_version__isnull=False, sentence=None, segment=None)
                | Q(nugget_version=None, sentence__isnull=False, segment__isnull=False),
                name="study_pair_is_one_of_two",
            ),
            models.CheckConstraint(
                condition=Q(person_label__in=REAL_LABELS, machine_label__in=REAL_LABELS)
                & ~Q(person_label=F("machine_label")),
                name="study_pair_differs",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person_label}/{self.machine_label}"
