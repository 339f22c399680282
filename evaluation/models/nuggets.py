"""Nugget sets, and in them for each topic versions of a list.

A nugget keeps its identity while its wording changes. Labels belong to one wording, a `NuggetVersion`; a list
names wordings. So the labels of nuggets that a new version of a list left unchanged carry over by themselves, and
a reworded nugget is unjudged.
"""

from django.db import models
from django.db.models import Q

from evaluation.models.campaigns import Campaign, Event
from evaluation.models.corpus import Segment, Topic
from evaluation.models.fields import choices_of, codes_of, new_public_id, within_weights
from evaluation.models.judges import Judge
from evaluation.models.querysets import ListedNuggetQuerySet, NuggetListQuerySet
from evaluation.terms import Importance, JudgeKind, Origin


class NuggetSet(models.Model):
    """One maker's nugget lists for a campaign's topics."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="nugget_sets")
    name = models.CharField(max_length=200)
    origin = models.CharField(max_length=10, choices=choices_of(Origin))
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+")
    drafts = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="what was post-edited"
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="nugget_set_once"),
            models.CheckConstraint(condition=Q(origin__in=list(Origin)), name="nugget_set_origin"),
            models.CheckConstraint(
                condition=Q(drafts=None) | Q(origin=Origin.EDITED), name="nugget_set_drafts_of_edited"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def person(self) -> str:
        """Name of the person who made it, '' of an LLM's."""
        return self.judge.name if self.judge.kind == JudgeKind.HUMAN else ""


class NuggetList(models.Model):
    """One version of one topic's list. A submitted version is frozen; reports use the newest submitted version."""

    nugget_set = models.ForeignKey(NuggetSet, on_delete=models.PROTECT, related_name="lists")
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    version = models.PositiveIntegerField(default=1)
    submitted = models.BooleanField(default=True)
    query = models.TextField(blank=True, help_text="the topic's text as the file had it")
    extra = models.JSONField(default=dict, help_text="keys of the file that Assay has no field for")
    line = models.PositiveIntegerField(null=True)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)

    objects = NuggetListQuerySet["NuggetList"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["nugget_set", "topic", "version"], name="nugget_list_version")
        ]

    def __str__(self) -> str:
        return f"{self.nugget_set} {self.topic} v{self.version}"


class Nugget(models.Model):
    """The identity of one atomic fact within a set and topic."""

    nugget_set = models.ForeignKey(NuggetSet, on_delete=models.PROTECT, related_name="+")
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)

    def __str__(self) -> str:
        return self.public_id


class NuggetVersion(models.Model):
    nugget = models.ForeignKey(Nugget, on_delete=models.CASCADE, related_name="versions", db_index=False)
    number = models.PositiveIntegerField(default=1)
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["nugget", "number"], name="nugget_version_number"),
            models.CheckConstraint(condition=~Q(text=""), name="nugget_not_empty"),
        ]

    def __str__(self) -> str:
        return self.text


class ListedNugget(models.Model):
    """A wording's place in a list, and how much a good answer needs it."""

    nugget_list = models.ForeignKey(NuggetList, on_delete=models.CASCADE, related_name="items", db_index=False)
    nugget_version = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    importance = models.PositiveSmallIntegerField(choices=codes_of(Importance), default=Importance.UNKNOWN)
    raw_importance = models.TextField(blank=True, help_text="as the file had it")
    group = models.TextField(blank=True, help_text="for instance the sub-narrative, or a criterion's type or axis")
    extra = models.JSONField(default=dict)
    weight = models.FloatField(
        null=True, blank=True, help_text="of a rubric; below 0: an answer must not contain it"
    )

    objects = ListedNuggetQuerySet["ListedNugget"].as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["nugget_list", "position"], name="listed_nugget_position"),
            models.UniqueConstraint(fields=["nugget_list", "nugget_version"], name="listed_nugget_once"),
            models.CheckConstraint(condition=Q(importance__in=list(Importance)), name="listed_nugget_importance"),
            models.CheckConstraint(condition=within_weights("weight"), name="listed_nugget_weight"),
        ]

    def __str__(self) -> str:
        return f"{self.position + 1}. {self.nugget_version}"


class NuggetLineage(models.Model):
    """Draft that a wording was made from. A wording without a row here was added."""

    RELATIONS = ("kept", "edited", "merged", "split")

    child = models.ForeignKey(NuggetVersion, on_delete=models.CASCADE, related_name="lineage")
    parent = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, related_name="+")
    relation = models.CharField(max_length=10, choices=[(word, word) for word in RELATIONS])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["child", "parent"], name="nugget_lineage_once"),
            models.CheckConstraint(
                condition=Q(relation__in=["kept", "edited", "merged", "split"]), name="nugget_lineage_relation"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.relation} from {self.parent}"


class NuggetEvidence(models.Model):
    """A segment, or one sentence of it, that a nugget rests on."""

    nugget_version = models.ForeignKey(NuggetVersion, on_delete=models.CASCADE, related_name="evidence")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="+")
    sentence = models.PositiveIntegerField(null=True, help_text="from 0; empty: the whole segment")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["nugget_version", "segment", "sentence"], name="nugget_evidence_once"),
            models.UniqueConstraint(
                fields=["nugget_version", "segment"],
                condition=Q(sentence=None),
                name="nugget_evidence_segment_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.segment}"
