"""Judges: the people and LLMs that give labels."""

from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluation.models.fields import choices_of
from evaluation.stages import GRADE
from evaluation.terms import JudgeKind

IN_STUDY = ", study "
"""Between a judge's name and the study's in the name of a judge of a study."""
OF_PEOPLE: Final = f"{GRADE}-"
"""Beginning of the names of sources of what people grade at the desk."""


class Judge(models.Model):
    """A person, or an LLM: an endpoint, a model, its prompts by task as `name@version`, and the form of its replies.

    Without a prompt for a task it uses the built-in prompt, without a form plain text.

    The pairs of a study are labelled by judges of its own, beside the usual judges of the same people and LLMs.
    Imported labels may name a person without an account here, or a model whose endpoint nobody recorded.
    """

    name = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=10, choices=choices_of(JudgeKind))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    model = models.CharField(max_length=200, blank=True)
    base_url = models.URLField(blank=True)
    study = models.ForeignKey(
        "evaluation.Study",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="the study whose pairs this judge labels, and nothing else",
    )
    aside = models.BooleanField(
        default=False, db_default=False, help_text="its labels are of a study: they count only where it is named"
    )
    prompt_versions = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["user"], condition=Q(aside=False), name="judge_per_user"),
            models.UniqueConstraint(fields=["study", "user"], name="judge_per_study_and_user"),
            models.CheckConstraint(condition=Q(study=None) | Q(aside=True), name="judge_of_a_study_is_aside"),
            models.CheckConstraint(
                condition=Q(kind=JudgeKind.HUMAN, model="", base_url="") | Q(kind=JudgeKind.LLM, user=None),
                name="judge_person_or_llm",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name_of_person(self) -> str:
        return self.name.partition(IN_STUDY)[0] if self.study_id else self.name


def source_of(judge: Judge) -> str:
    return f"{OF_PEOPLE}{judge.name}"
