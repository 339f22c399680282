"""Events, append-only by database trigger; and findings of imports."""

from django.conf import settings
from django.db import models

from evaluation.models.campaigns import Campaign
from evaluation.models.fields import choices_of
from evaluation.terms import FindingCode


class Event(models.Model):
    """One human operation, one LLM call or one import. Never changed, never deleted."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=60)
    # Empty for commands, calls of LLMs and what follows from an import by itself.
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    payload = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["campaign", "kind", "id"], name="event_by_kind")]

    def __str__(self) -> str:
        return f"{self.kind} {self.at:%Y-%m-%d %H:%M}"


class Finding(models.Model):
    """Something odd in an input that was loaded all the same, for an organizer to look at."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="findings")
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+")
    code = models.CharField(max_length=40, choices=choices_of(FindingCode))
    file = models.CharField(max_length=400)
    line = models.PositiveIntegerField(null=True)
    run_id = models.CharField(max_length=200, blank=True)
    topic_id = models.CharField(max_length=200, blank=True)
    message = models.TextField()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["campaign", "code"], name="finding_by_code")]

    def __str__(self) -> str:
        return f"{self.file}:{self.line or 0}: {self.message}"
