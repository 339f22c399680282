"""The choices of the confusion page: whose labels, which items of theirs, and which of those to read."""

from collections.abc import Iterable
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict

from evaluation.models import NuggetLineage
from evaluation.terms import Condition, SupportCondition
from reports.forms import choices_of_names
from reports.models import VERDICTS
from reports.sides import GRADES, Offer
from reports.terms import CATEGORY_WORDS

EVERYTHING = [("", "all")]
ADDED = "added"
MADE = [*EVERYTHING, *((word, word) for word in (*NuggetLineage.RELATIONS, ADDED))]
WEIGHTS = [*EVERYTHING, ("vital", "vital"), ("okay", "okay")]


class ConfusionForm(forms.Form):
    """Two sides that label the same items, and filters; what the query string leaves out has its default."""

    rows = forms.ChoiceField(label="Rows")
    columns = forms.ChoiceField(label="Columns")
    topic = forms.ChoiceField(label="Topic", required=False)
    run = forms.ChoiceField(label="Run", required=False)
    tag = forms.ChoiceField(required=False, label="Topics with the tag")
    importance = forms.ChoiceField(required=False, label="Nuggets", choices=WEIGHTS)
    made = forms.ChoiceField(required=False, label="Nuggets that were")
    nuggets = forms.ChoiceField(required=False, label="Nugget set")
    rows_judge = forms.ChoiceField(required=False, label="Rows' judge")
    columns_judge = forms.ChoiceField(required=False, label="Columns' judge")

    def __init__(
        self,
        query: QueryDict,
        offer: Offer,
        *,
        topics: Iterable[str],
        runs: Iterable[str],
        tags: Iterable[str],
    ) -> None:
        first = next(offer.label_pairings(), (Condition.EA.value, Condition.EM.value))
        super().__init__(data={"rows": first[0], "columns": first[1], **query.dict()}, auto_id="id_%s")
        sides = _sides(offer)
        for name, choices in {
            "rows": sides,
            "columns": sides,
            "topic": [*EVERYTHING, *((topic, topic) for topic in topics)],
            "run": [*EVERYTHING, *((run, run) for run in runs)],
            "tag": [*EVERYTHING, *((tag, tag) for tag in tags)],
            "nuggets": choices_of_names(one.name for one in offer.sets),
            "rows_judge": choices_of_names(offer.judges),
            "columns_judge": choices_of_names(offer.judges),
            "made": MADE if offer.lineage else EVERYTHING,
        }.items():
            cast(forms.ChoiceField, self.fields[name]).choices = choices

    @property
    def chosen(self) -> dict[str, Any]:
        return self.cleaned_data

    @property
    def link(self) -> str:
        """The query string that holds every choice, those of today's defaults too."""
        return urlencode({name: value for name, value in self.data.items() if name in self.fields and value})


class VerdictForm(forms.Form):
    """Verdict of an adjudicator on a pair."""

    verdict = forms.TypedChoiceField(
        label="Verdict", coerce=int, widget=forms.RadioSelect, choices=[(one, one) for one in VERDICTS]
    )
    category = forms.ChoiceField(
        required=False,
        label="Why they differ",
        choices=[("", "not said"), *((one.value, text) for one, text in CATEGORY_WORDS.items())],
    )
    note = forms.CharField(label="Note", required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 3}))


def _sides(offer: Offer) -> list[Any]:
    grades = [(f"{GRADES}{name}", name) for name in offer.sources]
    sides: list[Any] = [
        ("Nugget labels", [(one.value, one.value) for one in Condition]),
        ("Support labels", [(one.value, one.value) for one in SupportCondition]),
    ]
    return [*sides, ("Relevance grades", grades)] if grades else sides
