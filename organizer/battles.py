"""Page of battles: the sets that were drawn, and a draw with what it asks for before anything is drawn."""

from collections.abc import Sequence
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
    counted_verdicts,
    draw_battles,
    forecast_battles,
)
from evaluation.campaigns.access import may_organize
from evaluation.campaigns.findings import findings_for
from evaluation.corpus.runs import runs_for
from evaluation.corpus.topics import topics_for
from evaluation.labels import BattleLabel
from evaluation.models import BattleSet, Campaign, SampledBattle, Verdict
from evaluation.rules.battles import Missing
from evaluation.rules.protocol import SETTINGS
from evaluation.terms import BattleShow, FindingCode, JudgeKind
from organizer.access import get_campaign
from organizer.forms import named, refusals_on, ticks_field
from reports.battles.samples import SampleOrder, draw_sample
from reports.metrics.battles.win_rates import expected_half_width
from web.fields import TextField
from web.text import plural

MOST_ROUNDS = 1000
USUAL_SAMPLE = 200
MISSING = {"zero": "loses by rule", "skip": "is not drawn"}


@dataclass(frozen=True, slots=True)
class SampledJudge:
    """An LLM that judged all battles of a set, and how many of them people judge, 0 where no sample was drawn."""

    battle_set: str
    judge: str
    battles: int
    drawn: int


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
    show = forms.ChoiceField(
        choices=[("", "as the protocol or the set has it"), *SETTINGS["battle_show"].words.items()],
        required=False,
        label="People see",
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
            show=BattleShow(values["show"]) if values["show"] else None,
        )


class SampleForm(forms.Form):
    """Battles of those that an LLM judged, for people to judge; `sample`: battle set and LLM, with a tab between."""

    number = forms.IntegerField(min_value=1, label="Battles for people, in all")

    def __init__(self, samples: Sequence[SampledJudge], data: QueryDict | None) -> None:
        super().__init__(data, initial={"number": USUAL_SAMPLE})
        choices = [(f"{row.battle_set}\t{row.judge}", f"{row.battle_set}, {row.judge}") for row in samples]
        self.fields["sample"] = forms.ChoiceField(choices=choices, label="Battle set and LLM")

    @property
    def order(self) -> SampleOrder:
        name, judge = self.cleaned_data["sample"].split("\t")
        return SampleOrder(self.cleaned_data["number"], name, judge)


@require_http_methods(["GET", "HEAD", "POST"])
def battles(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    samples = _samples(campaign)
    if "sampled" in request.POST:
        return _draw_sample(request, campaign, samples)
    return _page(request, campaign, SampleForm(samples, None))


def _draw_sample(request: UserRequest, campaign: Campaign, samples: Sequence[SampledJudge]) -> HttpResponse:
    form = SampleForm(samples, request.POST)
    if form.is_valid():
        with refusals_on(form):
            draw = draw_sample(campaign=campaign, order=form.order, actor=request.user)
            text = f"Drawn for people: {draw.new:,} {plural(draw.new, 'battle')}, {draw.drawn:,} in all."
            messages.success(request, text)
            return redirect("organizer:battles", campaign.slug)
    return _page(request, campaign, form)


def _page(request: UserRequest, campaign: Campaign, sampling: SampleForm) -> HttpResponse:
    sent = request.method == "POST" and not sampling.is_bound
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
        "fails": draws or sampling.is_bound,
        "failed": sampling if sampling.is_bound else form,
        "samples": _samples(campaign),
        "sampling": sampling,
    }
    if draw:
        context["width"] = expected_half_width(draw.battles_in_all, draw.runs, draw.topics)
        context["naming"] = _answers_that_name_their_run(request.user, campaign, form.order)
    return render(request, "organizer/battles.html", context, status=422 if context["fails"] else 200)


def _answers_that_name_their_run(viewer: User, campaign: Campaign, order: BattleOrder) -> int:
    answers = findings_for(viewer, campaign, FindingCode.NAMES_ITS_RUN)
    if order.runs:
        of_runs = Q(run_id__in=order.runs)
        if order.controls:
            of_runs |= Q(run_id__in=campaign.runs.filter(control=True).values("run_id"))
        answers = answers.filter(of_runs)
    return (answers.filter(topic_id__in=order.topics) if order.topics else answers).count()


def _free_name(campaign: Campaign) -> str:
    number = BattleSet.objects.filter(campaign=campaign).count()
    return f"{USUAL_NAME} {number + 1}" if number else USUAL_NAME


def _sets(campaign: Campaign) -> list[tuple[BattleSet, int, int]]:
    """Return each set with how many battles it has and were judged, and of how many runs and topics it was drawn."""
    verdicts = Verdict.objects.current().exclude(label=BattleLabel.FAILED)
    judged = Exists(verdicts.filter(battle=OuterRef("battles"), second_opinion=False))
    sets = BattleSet.objects.filter(campaign=campaign)
    return [
        (
            row,
            sum(len(row.design.get(name, ())) for name in ("runs", "joined")),
            len(row.design.get("topics", ())),
        )
        for row in sets.annotate(drawn=Count("battles"), judged=Count("battles", filter=Q(judged)))
    ]


def _samples(campaign: Campaign) -> list[SampledJudge]:
    verdicts = counted_verdicts(campaign).filter(judge__kind=JudgeKind.LLM)
    numbers = verdicts.order_by("battle__battle_set__name", "judge__name").values_list(
        "battle__battle_set", "battle__battle_set__name", "judge__name"
    )
    battles = dict(BattleSet.objects.filter(campaign=campaign).annotate(n=Count("battles")).values_list("pk", "n"))
    drawn = SampledBattle.objects.filter(battle__battle_set__campaign=campaign).order_by()
    people = {
        (key, judge): number
        for key, judge, number in drawn.values_list("battle__battle_set", "judge__name").annotate(Count("chance"))
    }
    return [
        SampledJudge(name, judge, judged, people.get((key, judge), 0))
        for key, name, judge, judged in numbers.annotate(Count("battle", distinct=True))
        if judged == battles[key]
    ]
