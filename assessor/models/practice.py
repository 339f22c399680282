"""Practice: items whose label is known, and what people answered. Nothing leads from here to work or labels."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluation.models.campaigns import Campaign
from evaluation.models.events import Event
from evaluation.models.fields import choices_of, new_public_id
from evaluation.models.querysets import CurrentQuerySet
from evaluation.terms import Importance, PracticeKind

THREE = (0, 1, 2)  # of a nugget in an answer, and of a cited passage


class PracticeItem(models.Model):
    """One item to practise on. `stands` is false once it was replaced: it is kept with its answers, and not asked."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    kind = models.CharField(max_length=12, choices=choices_of(PracticeKind))
    position = models.PositiveIntegerField()
    question = models.TextField(blank=True)
    text = models.TextField(blank=True, help_text="the answer or passage to read; empty for an importance")
    statement = models.TextField(help_text="the nugget, or the sentence that cites")
    label = models.PositiveSmallIntegerField(help_text="the known one, by its code")
    explanation = models.TextField()
    shown_label = models.PositiveSmallIntegerField(null=True, help_text="shown as a machine's, by its code")
    stands = models.BooleanField(default=True, db_default=True)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False)

    objects = CurrentQuerySet["PracticeItem"].as_manager()

    class Meta:
        ordering = ["kind", "position", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=list(PracticeKind)), name="practice_item_kind"),
            models.CheckConstraint(
                condition=Q(kind=PracticeKind.IMPORTANCE, label__in=[Importance.OKAY, Importance.VITAL], text="")
                | (~Q(kind=PracticeKind.IMPORTANCE) & Q(label__in=THREE)),
                name="practice_item_label",
            ),
            models.CheckConstraint(
                condition=Q(shown_label=None) | Q(kind=PracticeKind.SUPPORT, shown_label__in=THREE),
                name="practice_item_shown",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.statement[:60]}"


class PracticeAnswer(models.Model):
    """First answer of a person to an item, never changed. It is no label, and counts nowhere."""

    item = models.ForeignKey(PracticeItem, on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    label = models.PositiveSmallIntegerField(help_text="by its code")
    given_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "user"], name="practice_answer_once"),
            models.CheckConstraint(condition=Q(label__in=THREE), name="practice_answer_label"),
        ]

    def __str__(self) -> str:
        return f"{self.user} on {self.item}"
