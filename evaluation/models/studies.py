"""Studies: pairs drawn to be judged again by others, where a person and an LLM differ or by chance (a random check).

The labels of those others are where all labels are, under judges of the study's own (`Judge.study`).
"""

from typing import Self

from django.db import models
from django.db.models import F, Q

from evaluation.labels import CITATION_LABELS, NO_LABEL, NUGGET_LABELS, LabelSet
from evaluation.models.campaigns import Campaign, Event
from evaluation.models.corpus import Segment, Topic
from evaluation.models.fields import choices_of
from evaluation.models.judges import Judge
from evaluation.models.nuggets import NuggetSet, NuggetVersion
from evaluation.models.runs import Answer, Sentence
from evaluation.stages import stage_of_study
from evaluation.terms import DrawKind, StudyKind, SupportCondition

REAL_LABELS = sorted({*NUGGET_LABELS.codes, *CITATION_LABELS.codes})
"""A label that failed or that nobody could give is no disagreement."""

MOST_DECOYS = 75

BY_PEOPLE = [SupportCondition.SCRATCH, SupportCondition.POST_EDIT]


class Study(models.Model):
    """Judges whose labels are compared, and how pairs were drawn. `condition`: under which people judge support.

    `decoys`: percent of a topic's pairs on which the two agree.

    A random check compares an LLM with whoever judges: it has no person. Its `design` has `seed`, a text; `per_run`,
    pairs to draw by run id; `least` of a stratum; `runs` and `topics`, by id, none for all; `known` and `sample`, the
    names of what was taken over.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=10, choices=choices_of(StudyKind))
    draw = models.CharField(max_length=13, choices=choices_of(DrawKind), default=DrawKind.DISAGREEMENTS)
    person = models.ForeignKey(Judge, on_delete=models.PROTECT, null=True, related_name="+")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+")
    nugget_set = models.ForeignKey(NuggetSet, on_delete=models.PROTECT, null=True, related_name="+")
    condition = models.CharField(max_length=10, blank=True, choices=choices_of(SupportCondition))
    per_topic = models.PositiveSmallIntegerField(null=True, default=15)
    stratified = models.BooleanField(default=False)
    decoys = models.PositiveSmallIntegerField(default=0)
    seed = models.PositiveIntegerField(default=0)
    design = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "studies"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="study_once"),
            models.CheckConstraint(condition=~Q(name=""), name="study_has_name"),
            models.CheckConstraint(condition=Q(per_topic__gte=1), name="study_draws"),
            models.CheckConstraint(condition=Q(decoys__lte=MOST_DECOYS), name="study_has_few_decoys"),
            models.CheckConstraint(condition=~Q(person=F("judge")), name="study_of_two_judges"),
            models.CheckConstraint(
                condition=Q(draw=DrawKind.RANDOM, person=None, per_topic=None, decoys=0)
                | Q(draw=DrawKind.DISAGREEMENTS, person__isnull=False, per_topic__isnull=False),
                name="study_has_what_its_draw_needs",
            ),
            models.CheckConstraint(
                condition=Q(kind=StudyKind.ASSIGNMENT, nugget_set__isnull=False, condition="")
                | Q(kind=StudyKind.SUPPORT, nugget_set=None, condition__in=BY_PEOPLE),
                name="study_has_what_its_kind_needs",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def labels(self) -> LabelSet:
        return stage_of_study(self.kind).labels

    @property
    def compared_person(self) -> Judge:
        """The person whose labels are compared. Raises ValueError of a random check, which compares none."""
        if self.person is None:
            raise ValueError(f"{self} compares no person")
        return self.person


ONE_OF_TWO = Q(nugget_version__isnull=False, sentence=None, segment=None) | Q(
    nugget_version=None, sentence__isnull=False, segment__isnull=False
)


IS_DECOY = Q(person_label=F("judge_label"))


class StudyPairQuerySet(models.QuerySet["StudyPair"]):
    def decoys(self) -> Self:
        return self.filter(IS_DECOY)

    def counted(self) -> Self:
        """Return the pairs that figures are about: all but decoys."""
        return self.exclude(IS_DECOY)


class StudyPair(models.Model):
    """One pair to judge, with the two labels on which it was drawn; a random check's pair has none here.

    Never changed: what comes of those labels has no effect. Two equal labels make it a decoy, so that whoever judges
    again cannot rely on every pair being disputed.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+", db_index=False)
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="+")
    nugget_version = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, null=True, related_name="+")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, null=True, related_name="+")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, null=True, related_name="+")
    person_label = models.PositiveSmallIntegerField(null=True)
    judge_label = models.PositiveSmallIntegerField(null=True)

    objects = StudyPairQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "answer", "nugget_version"], name="study_nugget_once"),
            models.UniqueConstraint(fields=["study", "sentence", "segment"], name="study_citation_once"),
            models.CheckConstraint(condition=ONE_OF_TWO, name="study_pair_is_one_of_two"),
            # `isnull` too: a database lets a condition pass of which it cannot tell whether it holds.
            models.CheckConstraint(
                condition=Q(person_label=None, judge_label=None)
                | Q(person_label__isnull=False, judge_label__isnull=False)
                & Q(person_label__in=REAL_LABELS, judge_label__in=REAL_LABELS),
                name="study_pair_has_both_labels",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person_label}/{self.judge_label}"


class RandomCheckPair(models.Model):
    """One pair of a random check's frame, drawn or not, as it came in. Only `chance` changes, when it grows.

    `judge_label`: of the LLM, NO_LABEL for failed or unjudged; with run and `block` it makes the stratum. `block`:
    0, or the number of the extension that added it. `size` and `place` are x and u of the draw, the size with the sign
    of a criterion's weight; `chance` is the inclusion probability of a pair that was drawn. `known`: judged before, and
    no part of the draw; `given`: the digits of the labels that were taken over with it, one a person.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+", db_index=False)
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="+")
    nugget_version = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, null=True, related_name="+")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, null=True, related_name="+")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, null=True, related_name="+")
    judge_label = models.PositiveSmallIntegerField()
    block = models.PositiveSmallIntegerField(default=0)
    size = models.FloatField()
    place = models.FloatField()
    chance = models.FloatField(null=True)
    known = models.BooleanField(default=False)
    given = models.CharField(max_length=20, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "answer", "nugget_version"], name="random_check_nugget_once"),
            models.UniqueConstraint(fields=["study", "sentence", "segment"], name="random_check_citation_once"),
            models.CheckConstraint(condition=ONE_OF_TWO, name="random_check_pair_is_one_of_two"),
            models.CheckConstraint(
                condition=Q(judge_label__in=[*REAL_LABELS, NO_LABEL], place__gt=0, place__lt=1) & ~Q(size=0),
                name="random_check_pair_is_drawable",
            ),
            models.CheckConstraint(
                condition=Q(chance=None) | Q(chance__gt=0, chance__lte=1),
                name="random_check_chance_is_a_probability",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge_label} {self.chance or ''}".strip()
