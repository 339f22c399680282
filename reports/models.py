"""Scores of others, of runs and of topics, to correlate ours with; and verdicts on pairs of labels that differ."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluation.models import Answer, Campaign, Event, NuggetVersion, Segment, Sentence
from evaluation.models.studies import REAL_LABELS
from reports.terms import ErrorCategory

BOTH, UNDECIDED, TAKEN_BACK = 7, 8, 6
"""Both labels are defensible, none can be decided on, and the verdict before this one no longer counts."""
VERDICTS = (*REAL_LABELS, BOTH, UNDECIDED)
"""A label of whichever set, or that both are defensible, or that it cannot be decided."""


class ExternalCondition(models.Model):
    """A table of somebody's scores, under a name that works as a condition in correlations; perhaps a judge's."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=200)
    method = models.CharField(max_length=200, blank=True, help_text="how the judge judges")
    model = models.CharField(max_length=200, blank=True, help_text="the LLM that it asks")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="external_condition_once")]

    def __str__(self) -> str:
        return self.name


class ExternalScore(models.Model):
    """One score of one run, loaded here or not, in a topic or over all."""

    condition = models.ForeignKey(ExternalCondition, on_delete=models.CASCADE, related_name="scores")
    # By name: a published table has runs that nobody loaded here.
    run_id = models.CharField(max_length=200)
    group = models.CharField(max_length=200, blank=True)
    task = models.CharField(max_length=3, blank=True)
    topic_id = models.CharField(max_length=200, blank=True, help_text="empty: over all topics")
    score = models.CharField(max_length=200)
    value = models.FloatField()
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["condition", "run_id", "score", "topic_id"], name="external_score_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.score} {self.value}"


class Adjudication(models.Model):
    """Verdict of an adjudicator on one pair. Never changed: a later one takes its place, or takes it back.

    It changes no label.

    The pair is an answer and a wording of a nugget, or a sentence and a segment.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, null=True, related_name="+")
    nugget_version = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, null=True, related_name="+")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, null=True, related_name="+")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, null=True, related_name="+")
    verdict = models.PositiveSmallIntegerField(
        help_text="a label's code; 7: both are defensible; 8: it cannot be decided; 6: the one before is taken back"
    )
    category = models.CharField(
        max_length=20, blank=True, choices=[(category, category) for category in ErrorCategory.values]
    )
    note = models.TextField(blank=True)
    # Kept with the verdict, because a label that is replaced later was not the one that was looked at.
    labels = models.JSONField(default=list, help_text="those that stood: judge by primary key, condition, label")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(answer__isnull=False, nugget_version__isnull=False, sentence=None, segment=None)
                | Q(answer=None, nugget_version=None, sentence__isnull=False, segment__isnull=False),
                name="adjudication_is_of_one_pair",
            ),
            models.CheckConstraint(condition=Q(verdict__in=[*VERDICTS, TAKEN_BACK]), name="adjudication_verdict"),
            models.CheckConstraint(condition=Q(category__in=["", *ErrorCategory]), name="adjudication_category"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} {self.category}".strip()
