"""Forms of LLM jobs: work, judge, topics, runs and budget."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms

from accounts.models import User
from evaluation.models import Campaign
from evaluation.queries.holdings import nugget_sets_for, sources_for
from evaluation.queries.runs import runs_for
from evaluation.queries.topics import topics_for
from llmjobs.budget import Budget
from llmjobs.endpoints import default_endpoint
from llmjobs.ordering import JobOrder, Work
from llmjobs.queries import callable_judges_for

KINDS = [
    (Work.AA.value, "A/A: AutoNuggets where a topic has none, then AutoAssign"),
    (Work.EA.value, "E/A: AutoAssign with the post-edited nuggets"),
    (Work.MA.value, "M/A: AutoAssign with the manual nuggets"),
    (Work.DRAFTS.value, "Drafts: over-generated nuggets for post-editing"),
    (Work.SUPPORT.value, "Support: whether cited segments support their sentences"),
    (Work.RELEVANCE.value, "Relevance: grades for segments that a source has not graded"),
]


class BudgetForm(forms.Form):
    """Limits of a job. Empty: no limit."""

    most_calls = forms.IntegerField(required=False, min_value=1, label="Requests at most")
    most_tokens = forms.IntegerField(required=False, min_value=1, label="Tokens at most")
    most_money = forms.DecimalField(
        required=False, min_value=Decimal("0.0001"), max_digits=12, decimal_places=4, label="Money at most"
    )

    @property
    def budget(self) -> Budget:
        values = self.cleaned_data
        return Budget(values["most_calls"], values["most_tokens"], values["most_money"])


class JobForm(BudgetForm):
    """Work, judge, topics and runs of a job. No topic or run chosen means all."""

    what = forms.ChoiceField(choices=KINDS, initial=Work.AA.value, widget=forms.RadioSelect, label="What")
    priority = forms.IntegerField(required=False, min_value=-100, max_value=100, label="Priority, 0 if unsaid")
    source = forms.CharField(required=False, max_length=200, label="Name for the new grades")

    def __init__(
        self, viewer: User, campaign: Campaign, data: Any = None, earlier_order: dict[str, object] | None = None
    ) -> None:
        """`earlier_order`: order of an earlier job, for another judge."""
        earlier = earlier_order or {}
        super().__init__(data, initial=earlier | {"what": earlier["work"]} if earlier else None)
        qrels = [(row.name, row.name) for row in sources_for(viewer, campaign)]
        sets = [(row.name, f"{row.name} ({row.origin})") for row in nugget_sets_for(viewer, campaign)]
        self.fields["judge"] = judge_choice(viewer, campaign, "Judge")
        self.fields["qrels"] = _choice("Qrels to read by", "UMBRELA, or the only ones", qrels)
        self.fields["nuggets"] = _choice("Nugget set", "the one that fits", sets)
        self.fields["topics"] = _several("Topics", topics_for(viewer, campaign).values_list("topic_id", "text"))
        self.fields["runs"] = _several("Runs", runs_for(viewer, campaign).values_list("run_id", "run_id"))

    def clean_source(self) -> str:
        """Require a name for grades; a job's other results need none."""
        name = str(self.cleaned_data["source"])
        if self.cleaned_data.get("what") == Work.RELEVANCE and not name:
            raise forms.ValidationError("say what they are to be called.")
        return name

    @property
    def order(self) -> JobOrder:
        values = self.cleaned_data
        return JobOrder(
            work=Work(values["what"]),
            judge=values["judge"],
            qrels=values["qrels"],
            nuggets=values["nuggets"],
            source=values["source"],
            topics=tuple(values["topics"]),
            runs=tuple(values["runs"]),
            budget=self.budget,
            priority=values["priority"] or 0,
        )


def judge_choice(viewer: User, campaign: Campaign, label: str) -> forms.ChoiceField:
    names = [judge.name for judge in callable_judges_for(viewer, campaign)]
    own = default_endpoint().model
    choices = [(name, name) for name in names]
    if own not in names:
        choices.insert(0, ("", f"{own} (new)"))
    return forms.ChoiceField(choices=choices, required=False, initial=own if own in names else "", label=label)


def _choice(label: str, unsaid: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(choices=[("", unsaid), *choices], required=False, label=label)


def _several(label: str, choices: Iterable[tuple[str, str]]) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=list(choices), required=False, widget=forms.CheckboxSelectMultiple, label=label
    )
