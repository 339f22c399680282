"""The choices of the confusion page: whose labels, which items of theirs, and which of those to read."""

from collections.abc import Iterable
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from evaluation.models import NuggetLineage
from evaluation.terms import Condition, SupportCondition
from reports.forms import choices_of_names
from reports.models import VERDICTS
from reports.sides import GRADES, Offer
from reports.terms import SAID
from web.shown import lazy_shown

ALL = [("", _("all"))]
ADDED = "added"
MADE = [*ALL, *((word, lazy_shown(word)) for word in (*NuggetLineage.RELATIONS, ADDED))]
WEIGHTS = [*ALL, ("vital", "vital"), ("okay", "okay")]


class ConfusionForm(forms.Form):
    """Two sides that label the same items, and filters; what the query string leaves out has its default."""

    rows = forms.ChoiceField(label=_("Rows"))
    columns = forms.ChoiceField(label=_("Columns"))
    topic = forms.ChoiceField(label=_("Topic"), required=False)
    run = forms.ChoiceField(label=_("Run"), required=False)
    tag = forms.ChoiceField(required=False, label=_("Topics with the tag"))
    importance = forms.ChoiceField(required=False, label=_("Nuggets"), choices=WEIGHTS)
    made = forms.ChoiceField(required=False, label=_("Nuggets that were"))
    nuggets = forms.ChoiceField(required=False, label=_("Nugget set"))
    rows_judge = forms.ChoiceField(required=False, label=_("Rows' judge"))
    columns_judge = forms.ChoiceField(required=False, label=_("Columns' judge"))

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
            "topic": [*ALL, *((one, one) for one in topics)],
            "run": [*ALL, *((one, one) for one in runs)],
            "tag": [*ALL, *((one, one) for one in tags)],
            "nuggets": choices_of_names(one.name for one in offer.sets),
            "rows_judge": choices_of_names(offer.judges),
            "columns_judge": choices_of_names(offer.judges),
            "made": MADE if offer.lineage else ALL,
        }.items():
            cast(forms.ChoiceField, self.fields[name]).choices = choices

    @property
    def said(self) -> dict[str, Any]:
        """The cleaned values; asks for a form that is valid."""
        return self.cleaned_data

    @property
    def link(self) -> str:
        """The query string that holds every choice, those of today's defaults too."""
        return urlencode({name: value for name, value in self.data.items() if name in self.fields and value})


class VerdictForm(forms.Form):
    """What an adjudicator says of a pair."""

    verdict = forms.TypedChoiceField(
        label=_("Verdict"), coerce=int, widget=forms.RadioSelect, choices=[(one, one) for one in VERDICTS]
    )
    category = forms.ChoiceField(
        required=False,
        label=_("Why they differ"),
        choices=[("", _("not said")), *((one.value, _(said)) for one, said in SAID.items())],
    )
    note = forms.CharField(
        label=_("Note"), required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 3})
    )


def _sides(offer: Offer) -> list[Any]:
    grades = [(f"{GRADES}{name}", name) for name in offer.sources]
    sides: list[Any] = [
        (_("Nugget labels"), [(one.value, one.value) for one in Condition]),
        (_("Support labels"), [(one.value, one.value) for one in SupportCondition]),
    ]
    return [*sides, (_("Relevance grades"), grades)] if grades else sides
