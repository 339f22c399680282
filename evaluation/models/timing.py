"""Time at a desk, as stretches from which any idle rule can be computed again."""

from django.db import models
from django.db.models import F, Q

from evaluation.models.fields import choices_of
from evaluation.models.tasks import Task
from evaluation.terms import SegmentKind


class TimeSegment(models.Model):
    """One stretch of one window: of one kind, without a gap of input of 30 s or more, or such a gap itself.

    Times are the server's. `number` is the window's own count, so that a beat sent twice changes one row.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    submission = models.PositiveSmallIntegerField(help_text="the submission that was being made")
    window = models.CharField(max_length=36)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=choices_of(SegmentKind))
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    words = models.PositiveIntegerField(default=0, help_text="words on screen: the idle limit follows from them")
    blurred = models.BooleanField(default=False, help_text="the window was visible and another one had the focus")
    offline = models.BooleanField(default=False, help_text="uploaded later, bounded by the server's gap")
    said = models.CharField(max_length=10, blank=True, help_text="of a gap: reading or away, as the assessor said")
    item = models.CharField(max_length=36, blank=True, help_text="the nugget or passage in focus")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "window", "number"], name="time_segment_once"),
            models.CheckConstraint(condition=Q(ended_at__gte=F("started_at")), name="time_segment_not_negative"),
            models.CheckConstraint(condition=Q(kind__in=list(SegmentKind)), name="time_segment_kind"),
            models.CheckConstraint(condition=Q(said__in=["", "reading", "away"]), name="time_segment_said"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ended_at - self.started_at}"
