"""Published run-level tables: scores that came from elsewhere, to correlate ours with."""

from django.db import models

from evaluation.models import Campaign, Event


class ExternalCondition(models.Model):
    """A table of somebody's scores, under a name that works as a condition in correlations."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="external_condition_once")]

    def __str__(self) -> str:
        return self.name


class ExternalScore(models.Model):
    """One score of one run, loaded here or not."""

    condition = models.ForeignKey(ExternalCondition, on_delete=models.CASCADE, related_name="scores")
    run_id = models.CharField(max_length=200)
    group = models.CharField(max_length=200, blank=True)
    task = models.CharField(max_length=3, blank=True)
    score = models.CharField(max_length=40)
    value = models.FloatField()
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["condition", "run_id", "score"], name="external_score_once")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.score} {self.value}"
