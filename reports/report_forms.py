"""The choices of the report pages, each page's own beside those that it shares with the leaderboard."""

from typing import Any

from django import forms
from django.http import QueryDict

from evaluation.domain.conditions import judges_of, support_judges_of
from evaluation.models import Campaign
from evaluation.terms import Origin, SupportCondition
from reports.forms import SCORES, BoardForm, ChoicesForm, Option, choices_of_names
from reports.metrics.policies import SupportPolicies
from reports.pages import first_conditions
from reports.tags import tags_of

ALL = ("", "all")


def _tag_field() -> forms.ChoiceField:
    return forms.ChoiceField(required=False, label="Topics tagged")


def _all_and(names: list[str]) -> list[Option]:
    return [ALL, *((name, name) for name in names)]


class DescriptivesForm(ChoicesForm):
    """Which topics are described: those with a tag, and those that some set has a list for."""

    tag = _tag_field()
    listed_in = forms.ChoiceField(required=False, label="Only topics of")

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query)
        self.offer("tag", _all_and(tags_of(campaign)))
        self.offer("listed_in", _all_and([one.name for one in campaign.nugget_sets.all()]))


class ConditionForm(BoardForm):
    """A condition of nugget scores in a campaign, in all topics or those with a tag."""

    tag = _tag_field()
    folded = ("nuggets", "judge")

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        sets = list(campaign.nugget_sets.exclude(origin=Origin.DRAFT))
        judges = {one.name for one in judges_of(*sets)}
        super().__init__(
            query,
            sets=[one.name for one in sets],
            judges=sorted(judges),
            defaults={"condition": first_conditions(sets)["x"]},
        )
        self.offer("tag", _all_and(tags_of(campaign)))


class NuggetsForm(ConditionForm):
    """Which nuggets are listed. Policies are about answers, so here there are none."""

    importance = forms.ChoiceField(
        label="Importance",
        required=False,
        choices=[ALL, ("vital", "vital"), ("okay", "okay"), ("unknown", "unknown")],
    )
    found = forms.ChoiceField(
        required=False,
        label="Found by",
        choices=[
            ("", "any number of runs"),
            ("nobody", "no run"),
            ("some", "some runs"),
            ("everybody", "every run"),
        ],
    )
    field_order = ["condition", "importance", "found", "tag"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query, campaign)
        for name in ("missing", "unjudged", "no_vital"):
            del self.fields[name]


class LengthForm(ConditionForm):
    """A score against length."""

    score = forms.ChoiceField(label="Score", choices=SCORES[:-1], initial="vital_strict")
    group = forms.ChoiceField(label="Group", required=False)
    task = forms.ChoiceField(label="Task", required=False)
    field_order = ["condition", "score", "group", "task", "tag"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query, campaign)
        runs = list(campaign.runs.values_list("group", "task"))
        self.offer("group", _all_and(sorted({group for group, _ in runs if group})))
        self.offer("task", _all_and(sorted({task for _, task in runs if task})))


class PacketForm(ConditionForm):
    """One group's packet."""

    group = forms.ChoiceField(label="Group")
    field_order = ["group", "condition", "tag"]

    def __init__(self, query: QueryDict, campaign: Campaign, groups: list[str]) -> None:
        chosen = query.copy()
        chosen.setdefault("group", groups[0] if groups else "")
        super().__init__(chosen, campaign)
        self.offer("group", [(name, name) for name in groups])
        self.fields["group"].required = bool(groups)


class SupportForm(ChoicesForm):
    """A support condition."""

    condition = forms.ChoiceField(
        label="Condition", choices=[(word.value, word.value) for word in SupportCondition]
    )
    judge = forms.ChoiceField(label="Judge", required=False)
    tag = _tag_field()
    missing = BoardForm.base_fields["missing"]
    no_cited = forms.ChoiceField(
        label="Answer that cites nothing",
        choices=[("skip", "is left out"), ("zero", "scores 0")],
        initial="skip",
    )
    folded = ("judge",)
    field_order = ["condition", "tag", "missing", "no_cited"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        by_condition = {one: list(support_judges_of(campaign, one)) for one in SupportCondition}
        labelled = next((one for one, judges in by_condition.items() if judges), SupportCondition.SCRATCH)
        super().__init__(query, {"condition": labelled})
        names = sorted({one.name for judges in by_condition.values() for one in judges})
        self.offer("judge", choices_of_names(names))
        self.offer("tag", _all_and(tags_of(campaign)))

    @property
    def chosen_condition(self) -> SupportCondition:
        """The condition chosen."""
        return SupportCondition(self.chosen["condition"])

    @property
    def policies(self) -> SupportPolicies:
        """The policies chosen."""
        return SupportPolicies(missing=self.chosen["missing"], no_cited=self.chosen["no_cited"])


class TimeForm(ChoicesForm):
    """Which times: of topics with a tag, and under which idle limit."""

    tag = _tag_field()
    idle = forms.IntegerField(
        required=False,
        min_value=30,
        max_value=3600,
        label="Idle limit in seconds; empty: from the words on screen",
    )

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query)
        self.offer("tag", _all_and(tags_of(campaign)))

    @property
    def idle_limit(self) -> int | None:
        """The fixed idle limit; None for the one that follows from the words on screen."""
        found: Any = self.chosen["idle"]
        return None if found is None else int(found)
