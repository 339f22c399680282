"""Page of battles: the sets that were drawn, and a draw with what it asks for before anything is drawn."""

from dataclasses import dataclass
from typing import Any, get_args

from django import forms
from django.contrib import messages
from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.http import UserRequest
from accounts.models import User
from evaluation.battles import (
    LONGEST_NAME,
    LONGEST_SEED,
    USUAL_NAME,
    BattleDraw,
    BattleOrder,
    draw_battles,
    forecast_battles,
)
from evaluation.campaigns.access import may_organize
from evaluation.corpus.runs import runs_for
from evaluation.corpus.topics import topics_for
from evaluation.labels import BattleLabel
from evaluation.models import BattleSet, Campaign, Verdict
from evaluation.rules.battles import Missing
from organizer.access import get_campaign
from organizer.forms import named, refusals_on, ticks_field
from reports.metrics.battles.win_rates import expected_half_width
from web.fields import TextField
from web.text import plural

MOST_ROUNDS = 1000
MISSING = {"zero": "loses by rule", "skip": "is not drawn"}


@dataclass(frozen=True, slots=True)
class SetRow:
    """A set, of how many runs and topics it was drawn, its battles, and those of them that somebody has judged."""

    battle_set: BattleSet
    runs: int
    topics: int
    battles: int
    judged: int


class DrawForm(forms.Form):
    """Battles to draw: a new set, or more of one by its name. Without rounds those of a usual set, or of the set."""

    name = TextField(max_length=LONGEST_NAME, label="Name")
    rounds = forms.IntegerField(min_value=1, max_value=MOST_ROUNDS, required=False, label="Rounds of each topic")
    seed = TextField(max_length=LONGEST_SEED, required=False, label="Seed")
    missing = forms.ChoiceField(
        choices=[
            ("", "loses by rule, or as the set has it"),
            *((word, MISSING[word]) for word in get_args(Missing)),
        ],
        required=False,
        label="A run without an answer",
    )
    controls = forms.BooleanField(required=False, label="The organizers' control runs too")

    def __init__(self, viewer: User, campaign: Campaign, data: QueryDict) -> None:
        data = data.copy()
        data.setdefault("name", _free_name(campaign))
        super().__init__(data)
        runs = runs_for(viewer, campaign).values_list("run_id", flat=True)
        self.fields["runs"] = ticks_field("Runs", named(runs))
        self.fields["topics"] = ticks_field("Topics", topics_for(viewer, campaign).values_list("topic_id", "text"))

    @property
    def order(self) -> BattleOrder:
        values = self.cleaned_data
        return BattleOrder(
            name=values["name"],
            rounds=values["rounds"],
            runs=tuple(values["runs"]),
            topics=tuple(values["topics"]),
            controls=values["controls"],
            seed=values["seed"],
            missing=values["missing"] or None,
        )


@require_http_methods(["GET", "HEAD", "POST"])
def battles(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    sent = request.method == "POST"
    form = DrawForm(request.user, campaign, request.POST if sent else request.GET)
    # Without `draw` the form asks what would be drawn, and htmx shows no answer that is an error.
    draws = sent and "draw" in request.POST
    draw: BattleDraw | None = None
    if form.is_valid():
        with refusals_on(form):
            if draws:
                drawn = draw_battles(campaign=campaign, order=form.order, actor=request.user)
                messages.success(request, f"Drawn: {drawn.battles:,} {plural(drawn.battles, 'battle')}.")
                return redirect("organizer:battles", campaign.slug)
            draw = forecast_battles(campaign=campaign, order=form.order)
    context: dict[str, Any] = {
        "campaign": campaign,
        "form": form,
        "draw": draw,
        "sets": _sets(campaign),
        "fails": draws,
    }
    if draw:
        context["width"] = expected_half_width(draw.battles_in_all, draw.runs, draw.topics)
    return render(request, "organizer/battles.html", context, status=422 if draws else 200)


def _free_name(campaign: Campaign) -> str:
    number = BattleSet.objects.filter(campaign=campaign).count()
    return f"{USUAL_NAME} {number + 1}" if number else USUAL_NAME


def _sets(campaign: Campaign) -> list[SetRow]:
    verdicts = Verdict.objects.current().exclude(label=BattleLabel.FAILED)
    judged = Exists(verdicts.filter(battle=OuterRef("battles"), second_opinion=False))
    sets = BattleSet.objects.filter(campaign=campaign)
    counted = sets.annotate(n=Count("battles"), judged=Count("battles", filter=Q(judged)))
    counts = {pk: numbers for pk, *numbers in counted.values_list("pk", "n", "judged")}
    return [
        SetRow(
            row,
            sum(len(row.design.get(name, ())) for name in ("runs", "joined")),
            len(row.design.get("topics", ())),
            *counts[row.pk],
        )
        for row in sets
    ]
