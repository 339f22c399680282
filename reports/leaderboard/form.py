"""The choices of the leaderboard: also which support of citations stands beside it, and scores of battles."""

from typing import Any, cast

from django import forms
from django.http import QueryDict

from evaluation.battles import counted_verdicts
from evaluation.domain.conditions import ALL_PEOPLE
from evaluation.models import BattleSet, Campaign, SampledBattle
from evaluation.terms import BattleCondition, Condition, JudgeKind, SupportCondition
from reports.forms import (
    BATTLE_SCORES,
    HIDDEN,
    NAMED_BY_CAMPAIGN,
    SUPPORT_CONDITIONS,
    ConditionForm,
    MeasureField,
    judges_by_support,
    labelled_sets,
    name_options,
    names_of_judges,
    no_cited_field,
    offer_of,
    support_policies_of,
    usual_battle_condition,
    with_all_people,
)
from reports.metrics.policies import SupportPolicies
from reports.metrics.registry import OF_NUGGETS, primary_of
from reports.profiles import profile_of, profiles_of, score_choices, score_groups
from web.fields import TextField


def _board_scores(campaign: Campaign) -> list[Any]:
    """Return the scores that a leaderboard may be of: those of battles too, where some were drawn."""
    profiles = profiles_of(campaign)
    if not BattleSet.objects.filter(campaign=campaign).exists():
        return score_choices(profiles)
    has_sample = SampledBattle.objects.filter(battle__battle_set__campaign=campaign).exists()
    of_battles = BATTLE_SCORES if has_sample else BATTLE_SCORES[:-1]
    return [*score_groups(profiles), ("Battles", of_battles)]


class LeaderboardForm(ConditionForm):
    """A leaderboard as a page: also which support of citations stands beside it, which runs, and their order."""

    score = forms.ChoiceField(label="Scored", choices=score_choices(OF_NUGGETS))
    support = forms.ChoiceField(
        required=False, label="Citation support by", choices=[("", "not shown"), *SUPPORT_CONDITIONS]
    )
    support_judge = forms.ChoiceField(label="Judge of citations", required=False)
    measure = MeasureField()
    no_cited = no_cited_field()
    group = forms.ChoiceField(label="Group", required=False)
    task = forms.ChoiceField(label="Task", required=False)
    compare = forms.BooleanField(required=False, widget=forms.HiddenInput)
    columns = TextField(required=False, max_length=200, widget=forms.HiddenInput)
    view, check, target, sort, set = (HIDDEN() for _ in "12345")
    folded = ("nuggets", "support", "support_judge")
    folded_text = "Nuggets and citations"
    needless = ("tag",)
    beside_condition = "judge"
    field_order = ["score", "condition", "judge", "support", "group", "task", "tag", "compare", "sort", "columns"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        by_condition = judges_by_support(campaign)
        labelled = next((condition for condition, judges in by_condition.items() if judges), "")
        usual = {"support": labelled, "score": primary_of(profile_of(campaign))}
        if (
            not (labelled or offer_of(campaign).conditions)
            and BattleSet.objects.filter(campaign=campaign).exists()
        ):
            is_by_llms = usual_battle_condition(campaign) is BattleCondition.LLM
            usual |= {"score": BATTLE_SCORES[0][0], "condition": Condition.AA if is_by_llms else Condition.MM}
        super().__init__(query, campaign, **usual)
        self.offer("score", _board_scores(campaign))
        self.offer_runs()
        if self.is_of_battles:
            self._offer_judges_of_battles(campaign)
        else:
            self._offer_judges(campaign)
        self.offer("support_judge", name_options(sorted(set().union(*by_condition.values())), NAMED_BY_CAMPAIGN))
        self.fields["condition"].label = "By"

    def _offer_judges(self, campaign: Campaign) -> None:
        """Offer the judges of the condition; one of another condition is forgotten, because *By* changes alone."""
        labelled = labelled_sets(campaign)
        condition = self.data["condition"]
        fitting = with_all_people({judge for each in labelled for judge in each.judges_for(condition)})
        if self.data.get("judge") in names_of_judges(labelled) - fitting:
            cast("QueryDict", self.data)["judge"] = ""
        unsaid = "the campaign's default"
        if not campaign.defaults.filter(condition=condition).exclude(judge="").exists():
            unsaid = ALL_PEOPLE if ALL_PEOPLE in fitting else "choose one"
        self.offer("judge", name_options(sorted(fitting - {unsaid}), ("", unsaid)))

    @property
    def is_of_battles(self) -> bool:
        return self.data["score"] in dict(BATTLE_SCORES)

    @property
    def rules(self) -> list[forms.BoundField]:
        # What becomes of an answer that is missing was settled at the draw.
        return [] if self.is_of_battles else super().rules

    @property
    def battle_condition(self) -> BattleCondition:
        by_llms = [condition for condition in Condition if condition.judge_kind is JudgeKind.LLM]
        return BattleCondition.LLM if self.data["condition"] in by_llms else BattleCondition.PEOPLE

    def _offer_judges_of_battles(self, campaign: Campaign) -> None:
        kind = self.battle_condition.judge_kind
        verdicts = counted_verdicts(campaign).filter(judge__kind=kind)
        names = sorted(set(verdicts.order_by().values_list("judge__name", flat=True)))
        if self.data.get("judge") not in names:
            cast("QueryDict", self.data)["judge"] = ""
        unsaid = ALL_PEOPLE if kind is JudgeKind.HUMAN else "the only one"
        self.offer("judge", name_options(names, ("", unsaid)))

    @property
    def chosen_support(self) -> SupportCondition | None:
        return SupportCondition(self.chosen["support"]) if self.chosen["support"] else None

    @property
    def support_policies(self) -> SupportPolicies:
        return support_policies_of(self.chosen)
