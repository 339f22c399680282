"""A campaign: one evaluation, its members, the protocol it follows, its log, and findings of its imports."""

from datetime import datetime
from pathlib import PurePath
from typing import Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from evaluation.labels import LabelSet
from evaluation.models.fields import choices_of, new_family, new_salt
from evaluation.stages import Stage
from evaluation.stages.grade import HIGHEST
from evaluation.terms import (
    BattleMarkdown,
    BattleRubric,
    BattleShow,
    BattleWalk,
    FindingCode,
    NuggetSearch,
    PassageOrder,
    Role,
    Scoring,
    SupportMeasure,
)

RevisionKey = tuple[datetime, int]


class CampaignManager(models.Manager["Campaign"]):
    """Campaigns that were not deleted. Rows that belong to one reach theirs all the same."""

    def get_queryset(self) -> models.QuerySet["Campaign"]:
        return super().get_queryset().filter(deleted_at=None)


class Campaign(models.Model):
    """One evaluation: its topics, segments, qrels, runs, nuggets and labels."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    language = models.CharField(
        max_length=35, blank=True, help_text="BCP 47, of topics without one; empty: not known"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # Goes up with every import, in the same transaction: what a cached report was computed from.
    revision = models.PositiveBigIntegerField(default=0)
    hourly_rate = models.DecimalField(
        max_digits=8, decimal_places=2, null=True, blank=True, help_text="what an assessor's hour costs"
    )
    # With it, pseudonyms could be undone by trying every key of an account.
    salt = models.CharField(max_length=64, default=new_salt, editable=False, help_text="of the pseudonyms")
    # Copies hold the same answers, so roles are checked over the whole family. A campaign's file carries it.
    family = models.CharField(
        max_length=32,
        default=new_family,
        editable=False,
        db_index=True,
        help_text="the same for a campaign and its copies",
    )

    deleted_at = models.DateTimeField(null=True, editable=False)

    objects = CampaignManager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def like(self) -> str:
        """The preset that the campaign was made with, or changed to by a file since; '' without one."""
        events = Event.objects.filter(campaign=self, kind__in=("campaign.made", "campaign.changed"))
        payloads = events.order_by("-id").values_list("payload", flat=True)
        return next((payload["like"] for payload in payloads if payload.get("like")), "")

    @property
    def revision_key(self) -> RevisionKey:
        """Key of cached figures: the revision, and when the campaign was made, which tells databases apart."""
        return self.created_at, self.revision

    @property
    def protocol(self) -> "Protocol":
        return Protocol.objects.filter(campaign=self).latest("version")


class MembershipQuerySet(models.QuerySet["Membership"]):
    def of_assessors(self) -> Self:
        return self.filter(role=Role.ASSESSOR)


class Membership(models.Model):
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=10, choices=choices_of(Role))
    paused_at = models.DateTimeField(
        null=True, blank=True, help_text="an assessor's: since when nothing new is given"
    )
    languages = models.CharField(
        max_length=400,
        blank=True,
        help_text="an assessor's: BCP 47 tags of what they read, with blanks; empty: any",
    )

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user", "role"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=list(Role)), name="membership_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role} of {self.campaign}"


class Protocol(models.Model):
    """The settings a campaign is judged under. A change is a new version; old versions stay."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="protocols")
    version = models.PositiveIntegerField(default=1)
    window_size = models.PositiveSmallIntegerField(default=10, help_text="segments a nuggetizer call reads")
    batch_size = models.PositiveSmallIntegerField(default=10, help_text="nuggets a call labels at most")
    draft_cap = models.PositiveSmallIntegerField(default=30, help_text="nuggets an AutoNuggets list grows to")
    nugget_cap = models.PositiveSmallIntegerField(default=20, help_text="nuggets kept of an AutoNuggets list")
    manual_cap = models.PositiveSmallIntegerField(default=20, null=True, blank=True)
    edited_cap = models.PositiveSmallIntegerField(null=True, blank=True, help_text="empty: no limit")
    grade_threshold = models.PositiveSmallIntegerField(default=1, help_text="grade from which a segment is read")
    relevance_max = models.PositiveSmallIntegerField(default=3, help_text="highest grade of the scale")
    grade_words = models.TextField(blank=True, help_text="a line a grade, from 0 up; empty: the usual ones")
    first_citations = models.PositiveSmallIntegerField(
        default=1, null=True, blank=True, help_text="citations judged per sentence; empty: all"
    )
    scoring = models.CharField(
        max_length=10,
        choices=choices_of(Scoring),
        default=Scoring.TREC_RAG,
        help_text="what scores count nuggets by",
    )
    support_measure = models.CharField(
        max_length=10,
        choices=choices_of(SupportMeasure),
        blank=True,
        help_text="how judged citations count; empty: first where one a sentence is judged, else pooled",
    )
    citation_limit = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="citations of a sentence, more are a finding; empty: no limit"
    )
    answer_word_limit = models.PositiveIntegerField(default=400, null=True, blank=True)
    topic_limit = models.BooleanField(default=False, help_text="heed the limit in characters that a topic has")
    reference_limit = models.PositiveIntegerField(default=20, null=True, blank=True)
    show_importance = models.BooleanField(default=False, help_text="show vital and okay while assigning")
    identical_once = models.BooleanField(default=False, help_text="judge answers with the very same text once")
    nugget_sweep = models.BooleanField(default=True, help_text="offer a look at each nugget's labels at the end")
    overlap = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="assessors who judge a topic, no more; empty: one, and more on request"
    )
    pool_depth = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="runs judged per group and task; empty: all"
    )
    passage_order = models.CharField(
        max_length=10, choices=choices_of(PassageOrder), default=PassageOrder.RANK, help_text="order of reading"
    )
    group_overlaps = models.BooleanField(
        default=True, help_text="put a document's overlapping segments together and grey what repeats"
    )
    nugget_search = models.CharField(
        max_length=10,
        choices=choices_of(NuggetSearch),
        default=NuggetSearch.EDITED,
        help_text="lists whose nuggets are searched for in the passages by one key",
    )
    copy_words = models.BooleanField(default=True, help_text="offer to take selected words as a nugget's text")
    place_help = models.BooleanField(
        default=True, help_text="mark the paragraphs of a cited passage that hold the sentence's words"
    )
    markdown = models.BooleanField(default=False, help_text="answers are shown as their Markdown reads")
    practice = models.BooleanField(default=True, help_text="ask for practice before a stage's first task")
    battle_show = models.CharField(
        max_length=10,
        choices=choices_of(BattleShow),
        default=BattleShow.ANSWER,
        help_text="what is seen of an answer",
    )
    battle_rubric = models.CharField(
        max_length=10,
        choices=choices_of(BattleRubric),
        default=BattleRubric.NONE,
        help_text="what stands beside the answers, folded",
    )
    battle_markdown = models.CharField(
        max_length=10,
        choices=choices_of(BattleMarkdown),
        default=BattleMarkdown.ALIKE,
        help_text="look of the answers",
    )
    battle_ties = models.BooleanField(default=True, help_text="a tie is a verdict")
    battle_both_bad = models.BooleanField(default=True, help_text="that both are bad is a verdict")
    battle_refuse = models.BooleanField(default=True, help_text="a battle may be left unjudged, with a reason")
    battle_reasons = models.BooleanField(default=True, help_text="ask why an answer is better")
    battle_overlap = models.FloatField(default=0.15, help_text="share of a set's battles that two people judge")
    battle_order = models.CharField(
        max_length=10,
        choices=choices_of(BattleWalk),
        default=BattleWalk.WALK,
        help_text="order of a topic's battles",
    )
    battle_task = models.PositiveSmallIntegerField(default=40, help_text="battles of a task at most")
    guidelines = models.TextField(blank=True, help_text="what assessors are told, in Markdown")
    reason = models.TextField(blank=True, help_text="why this version was made")
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "version"], name="protocol_version"),
            models.CheckConstraint(
                condition=Q(passage_order__in=list(PassageOrder)), name="protocol_passage_order"
            ),
            models.CheckConstraint(
                condition=Q(nugget_search__in=list(NuggetSearch)), name="protocol_nugget_search"
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="protocol_version_from_1"),
            models.CheckConstraint(
                condition=Q(window_size__gte=1, batch_size__gte=1, nugget_cap__gte=1), name="protocol_sizes"
            ),
            models.CheckConstraint(
                condition=Q(nugget_cap__lte=F("draft_cap")),
                name="protocol_caps",
                violation_error_message="nugget_cap must not be above draft_cap",
            ),
            models.CheckConstraint(
                condition=Q(grade_threshold__lte=F("relevance_max")),
                name="protocol_threshold_on_scale",
                violation_error_message="grade_threshold must not be above relevance_max",
            ),
            models.CheckConstraint(
                condition=Q(relevance_max__lte=HIGHEST),
                name="protocol_scale",
                violation_error_message=f"relevance_max must be at most {HIGHEST}",
            ),
            models.CheckConstraint(condition=Q(overlap=None) | Q(overlap__gte=1), name="protocol_overlap"),
            models.CheckConstraint(
                condition=Q(first_citations=None) | Q(first_citations__gte=1), name="protocol_first_citations"
            ),
            models.CheckConstraint(
                condition=Q(support_measure__in=["", *SupportMeasure]), name="protocol_support_measure"
            ),
            models.CheckConstraint(condition=Q(scoring__in=[*Scoring]), name="protocol_scoring"),
            models.CheckConstraint(
                condition=Q(
                    battle_show__in=[*BattleShow],
                    battle_rubric__in=[*BattleRubric],
                    battle_markdown__in=[*BattleMarkdown],
                    battle_order__in=[*BattleWalk],
                ),
                name="protocol_battle_words",
            ),
            models.CheckConstraint(
                condition=Q(battle_overlap__gte=0, battle_overlap__lte=1),
                name="protocol_battle_overlap",
                violation_error_message="battle_overlap must lie between 0 and 1",
            ),
            models.CheckConstraint(
                condition=Q(battle_task__gte=1),
                name="protocol_battle_task",
                violation_error_message="battle_task must be at least 1",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} protocol {self.version}"

    def clean(self) -> None:
        words, grades = self.grade_words.split("\n"), self.relevance_max + 1
        if self.grade_words and (len(words) != grades or not all(map(str.strip, words))):
            raise ValidationError({"grade_words": f"give {grades} words, a line a grade, from 0 to {grades - 1}"})

    def labels_of(self, stage: Stage) -> LabelSet:
        return stage.labels_in(self)

    @property
    def measure(self) -> SupportMeasure:
        """The measure of support scores where nobody chooses one: of one citation a sentence all are the same."""
        usual = SupportMeasure.FIRST if self.first_citations == 1 else SupportMeasure.POOLED
        return SupportMeasure(self.support_measure or usual)


class ConditionDefault(models.Model):
    """Default judge and nugget set of a condition where several fit. Names, so that it can be set up front."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="defaults")
    condition = models.CharField(max_length=10)
    judge = models.CharField(max_length=200, blank=True)
    nuggets = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "condition"], name="condition_default_once"),
            models.CheckConstraint(
                condition=Q(
                    condition__in=["A/A", "E/M", "M/M", "E/A", "M/A", "A/M", "scratch", "post-edit", "llm"]
                ),
                name="condition_default_condition",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.condition}: {self.nuggets or 'any nuggets'}, {self.judge or 'any judge'}"


class Event(models.Model):
    """One human operation, one LLM call or one import. A trigger of the database refuses to change or delete it."""

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
        return f"{self.kind} {timezone.localtime(self.at):%Y-%m-%d %H:%M}"

    @property
    def files(self) -> list[dict[str, str]]:
        """Name, without its folder, and SHA-256 of each file of an import."""
        files = self.payload.get("files", [])
        return [{"name": PurePath(file.get("name", "")).name, "sha256": file.get("sha256", "")} for file in files]


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
