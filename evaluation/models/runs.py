"""Runs and their answers. An answer's text is here; the run it came from is in a table of its own."""

from django.db import models
from django.db.models import Q

from evaluation.models.campaigns import Campaign, Event
from evaluation.models.corpus import Segment, Topic
from evaluation.models.fields import choices_of, new_public_id
from evaluation.terms import RagTask


class Run(models.Model):
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="runs")
    run_id = models.CharField(max_length=200)
    group = models.CharField(max_length=200, blank=True, help_text="the team that submitted it")
    task = models.CharField(max_length=3, choices=choices_of(RagTask), blank=True)
    priority = models.PositiveSmallIntegerField(null=True, blank=True, help_text="1 is judged first")
    control = models.BooleanField(default=False, help_text="an organizers' control run")
    pool = models.BooleanField(default=False, help_text="judged whatever its priority")
    has_candidates = models.BooleanField(
        default=False,
        db_default=False,
        help_text="its sentences stand beside all that was retrieved, which its answers do not cite",
    )
    # By it an import sees that a run changed, without comparing its sentences.
    sha256 = models.CharField(max_length=64, blank=True, editable=False)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)

    class Meta:
        ordering = ["run_id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "run_id"], name="run_once"),
            models.CheckConstraint(condition=Q(task__in=["", *RagTask]), name="run_task"),
        ]

    def __str__(self) -> str:
        return self.run_id


class Answer(models.Model):
    """One answer to one topic, as anybody may read it."""

    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="answers")
    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    words = models.PositiveIntegerField(help_text="whitespace words")

    def __str__(self) -> str:
        return self.public_id


class AnswerProvenance(models.Model):
    """Run of an answer. No attribute leads here from the answer."""

    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, primary_key=True, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    # The answer has it too; here the constraint below needs it.
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    sample = models.PositiveSmallIntegerField(default=1, help_text="which of the run's answers to the topic")
    response_length = models.PositiveIntegerField(null=True, help_text="as the run's file declares it")
    references = models.JSONField(default=list)
    extra = models.JSONField(default=dict)
    line = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "topic", "sample"], name="answer_once"),
            models.CheckConstraint(condition=Q(sample__gte=1), name="answer_sample"),
        ]

    def __str__(self) -> str:
        return f"{self.run} on {self.topic}"


class Sentence(models.Model):
    """One sentence of an answer; `index` counts from 0."""

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="sentences", db_index=False)
    index = models.PositiveIntegerField()
    text = models.TextField(blank=True)

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["answer", "index"], name="sentence_once")]

    def __str__(self) -> str:
        return self.text[:60]


class Citation(models.Model):
    """One citation of a sentence. Their order is data: the study judges the first."""

    sentence = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="citations", db_index=False)
    position = models.PositiveIntegerField()
    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, null=True, related_name="+")
    raw = models.CharField(max_length=200, help_text="as the run wrote it")

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["sentence", "position"], name="citation_once")]

    def __str__(self) -> str:
        return self.raw
