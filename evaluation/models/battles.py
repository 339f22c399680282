"""Battles: two answers to a topic side by side, of which people and LLMs say the better one."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Greatest, Least

from evaluation.labels import BATTLE_LABELS
from evaluation.models.campaigns import Campaign, Event
from evaluation.models.corpus import Topic
from evaluation.models.fields import new_public_id
from evaluation.models.judges import Judge
from evaluation.models.labels import JudgedLabel
from evaluation.models.querysets import CurrentQuerySet
from evaluation.models.runs import Answer


class BattleSet(models.Model):
    """Terms by which battles were drawn. It grows by rounds, runs and topics; what was drawn stays.

    Its `design` has what `evaluation.rules.battles.BattleTerms` has, by name, and `by_rule`: battles of answers that
    are missing, as topic, left run, right run, round and points of the left. They are shown to nobody. A set of
    battles that were drawn elsewhere has no seed.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=60)
    seed = models.CharField(max_length=60, blank=True)
    rounds = models.PositiveSmallIntegerField()
    design = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="battle_set_once"),
            models.CheckConstraint(condition=~Q(name=""), name="battle_set_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Battle(models.Model):
    """Two answers to a topic, `left` being on the left for whoever judges first. Never changed."""

    battle_set = models.ForeignKey(BattleSet, on_delete=models.PROTECT, related_name="battles", db_index=False)
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    left = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="+")
    right = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="+")
    round = models.PositiveSmallIntegerField(default=1)
    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                F("battle_set"), Least("left", "right"), Greatest("left", "right"), name="battle_once"
            ),
            models.CheckConstraint(condition=~Q(left=F("right")), name="battle_of_two_answers"),
        ]

    def __str__(self) -> str:
        return self.public_id


class SampledBattle(models.Model):
    """A battle that an LLM judged, as people's verdicts on a sample of them correct its win rates.

    `points`: what the LLM gave the battle's left answer when the battle came in, None where it could not say; `block`:
    0, or the number of the growth that added it. `chance`: with which it was drawn for people, None where it was not.
    """

    battle = models.ForeignKey(Battle, on_delete=models.PROTECT, related_name="samples", db_index=False)
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+")
    points = models.FloatField(null=True)
    block = models.PositiveSmallIntegerField(default=0)
    chance = models.FloatField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["battle", "judge"], name="sampled_battle_once"),
            models.CheckConstraint(
                condition=Q(points=None) | Q(points__gte=0, points__lte=1), name="sampled_battle_points"
            ),
            models.CheckConstraint(
                condition=Q(chance=None) | Q(chance__gt=0, chance__lte=1),
                name="sampled_battle_chance_is_a_probability",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.battle} of {self.judge}"


class Verdict(JudgedLabel):
    """Which answer of a battle one judge says is better. `left`: the one that was on the left for this judge.

    A judge may see a battle in both orders: those are two verdicts. A second opinion is in no score. At the desk:
    `place` of the battle in its task, from 1, `stayed`, the answer that was on the screen just before, and active
    `seconds`.
    """

    battle = models.ForeignKey(Battle, on_delete=models.PROTECT, related_name="+", db_index=False)
    left = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="+")
    reasons = models.JSONField(default=list)
    second_opinion = models.BooleanField(default=False)
    place = models.PositiveIntegerField(null=True)
    stayed = models.ForeignKey(Answer, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    seconds = models.PositiveIntegerField(null=True)

    objects = CurrentQuerySet["Verdict"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["battle", "judge", "left", "submission"], name="verdict_once"),
            models.CheckConstraint(condition=Q(label__in=sorted(BATTLE_LABELS.by_code)), name="verdict_label"),
        ]

    def __str__(self) -> str:
        return BATTLE_LABELS.by_code[self.label].word
