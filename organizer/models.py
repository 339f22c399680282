"""Visits of organizers to a campaign's first page."""

from django.conf import settings
from django.db import models

from evaluation.models import Campaign


class TodayVisit(models.Model):
    """One person's visits to Today of one campaign. `before`: when the visit before this one ended."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    before = models.DateTimeField(null=True)
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "user"], name="visit_once")]

    def __str__(self) -> str:
        return f"{self.user} at {self.campaign}"
