"""Costs of judgments by people and by LLMs, and the agreement of each condition against its cost."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, OuterRef, Subquery, Sum
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from assessor.rules.clock import SECOND
from assessor.timing.times import TopicTime
from evaluation.campaigns.access import may_organize
from evaluation.campaigns.create import set_hourly_rate
from evaluation.domain.conditions import NuggetCondition
from evaluation.models import Campaign, Submission, Task
from evaluation.stages import STAGES, Stage
from evaluation.terms import Condition, JudgeKind, Origin
from jobs.models import WorkItem
from llmjobs.budget import announced_price, without_counts_q
from llmjobs.models import Call, CallUse, LlmJob
from organizer.access import get_campaign
from organizer.campaigns.views import judged_conditions
from organizer.forms import choice_field
from reports import charts
from reports.agreement.figures import agreement_of
from reports.files import PictureForm, TableForm
from reports.forms import PolicyForm, offer_of
from reports.frames import assignment_sheet
from reports.metrics.policies import policies_document
from reports.metrics.registry import BY_NAME, OF_NUGGETS, primary_of
from reports.metrics.sample_size import has_tau
from reports.needs import LABELS_BY_PEOPLE
from reports.profiles import profile_of, profiles_of, score_choices
from reports.report import (
    OVERVIEW,
    Chart,
    ColumnKind,
    Report,
    ReportContent,
    Row,
    Section,
    columns,
    policies_text,
    report_of,
    sentences,
)
from reports.timing.figures import times_of
from reports.views import page_response, part_picture, table_response
from web.consistent_read import consistent_read
from web.templatetags.assay import money, score
from web.text import plural

LIST, LABEL, SUPPORT = "nugget list", "nugget label", "citation label"
GRADE = "relevance grade"
VERDICT = STAGES["battle"].unit
ITEM_UNITS = {
    "nuggets": LIST,
    "drafts": LIST,
    "rubric": LIST,
    "assign": LABEL,
    "support": SUPPORT,
    "relevance": GRADE,
    "battle": VERDICT,
}
"""Unit that an item of a kind makes, and that its calls are for, by whatever prompt.

An item of assigning makes a label for each of its nuggets.
"""


@dataclass(frozen=True, slots=True)
class Unit:
    """Cost of a unit. `seconds`: a person's per unit; `published`: the study's, nothing was measured.

    `cost` is in the page's currency, None where it is not known; `units` is the number of measured ones.
    """

    what: str
    by: str
    units: int
    seconds: float | None
    cost: float | None
    published: bool = False


def person_units(campaign: Campaign, rate: Decimal | None) -> dict[Stage, Unit]:
    """Costs of a person's lists and labels at an hourly rate, from first submissions of whole topics."""
    times: dict[Stage, list[TopicTime]] = defaultdict(list)
    for time in times_of(campaign):
        if time.timed.version == 1 and time.timed.submitted and time.timed.whole:
            times[time.timed.stage].append(time)
    labels = _labels(campaign)
    unit_of = {}
    for stage in STAGES.values():
        units = labels.get(stage, 0) if stage.judges else len(times[stage])
        total = sum(row.times.active.point for row in times[stage]) / SECOND
        each = total / units if units and total else stage.published_s
        cost = each / 3600 * float(rate) if each is not None and rate is not None else None
        unit_of[stage] = Unit(
            stage.unit, "person", units, each, cost, published=not (units and total) and each is not None
        )
    return unit_of


def _labels(campaign: Campaign) -> dict[str, int]:
    tasks = Submission.objects.filter(task__campaign=campaign, task__study=None, version=1)
    rows = tasks.filter(Task.objects.not_withdrawn_q("task__")).values_list("task__stage")
    return {stage: labels or 0 for stage, labels in rows.annotate(Sum("labels")).order_by()}


@dataclass(frozen=True, slots=True)
class LlmUnits:
    """Costs of an LLM's lists and labels, by judge and kind of unit; `currency` of the price tables, '' if none."""

    by_judge: Mapping[tuple[str, str], Unit]
    currency: str

    def cost(self, judge: str, what: str) -> float | None:
        """Cost of a unit by a judge; where it made none here, that of the only judge with such units."""
        if (judge, what) in self.by_judge:
            return self.by_judge[judge, what].cost
        others = [unit for (_, kind), unit in self.by_judge.items() if kind == what]
        return others[0].cost if len(others) == 1 else None


def llm_units(campaign: Campaign) -> LlmUnits:
    # Jobs of judges set aside, as for trials of prompts, are left out.
    own = LlmJob.objects.filter(campaign=campaign, judge__aside=False)
    jobs = {llm.pk: llm for llm in own.select_related("judge")}
    paid: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    unpriced = set()
    for pk, kind, prompt, completion, uncounted in _tokens(campaign):
        llm, what = jobs.get(pk), ITEM_UNITS.get(kind)
        if llm is None or what is None:
            continue
        price, key = announced_price(llm), (llm.judge.name, what)
        if price is None or uncounted:
            unpriced.add(key)
        else:
            paid[key] += price.of(prompt or 0, completion or 0)
    units = _units_made(campaign, jobs)
    unit_of = {
        key: Unit(key[1], key[0], count, None, None if key in unpriced or not count else float(paid[key]) / count)
        for key, count in units.items()
    }
    currencies = sorted({llm.currency for llm in jobs.values() if llm.currency})
    return LlmUnits(unit_of, currencies[0] if len(currencies) == 1 else "")


def _tokens(campaign: Campaign) -> list[tuple[int, str, int | None, int | None, int]]:
    """Tokens of prompts and replies by job and kind of item, each call once, and the calls that said none."""
    mine = CallUse.objects.filter(item__job__llm__campaign=campaign)
    # A call that several items used counts for the first of them.
    first = mine.filter(call=OuterRef("pk")).order_by("pk")
    calls = Call.objects.filter(pk__in=mine.order_by().values("call")).annotate(
        job=Subquery(first.values("item__job")[:1]), kind=Subquery(first.values("item__kind")[:1])
    )
    sums = calls.values("job", "kind").annotate(
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        uncounted=Count("pk", filter=without_counts_q()),
    )
    return list(sums.order_by().values_list("job", "kind", "prompt", "completion", "uncounted"))


def _units_made(campaign: Campaign, jobs: Mapping[int, LlmJob]) -> Counter[tuple[str, str]]:
    done = WorkItem.objects.filter(job__llm__campaign=campaign, state=WorkItem.State.DONE)
    counts = Counter[tuple[str, str]]()
    rows = done.exclude(kind="assign").values_list("job", "kind").annotate(n=Count("pk")).order_by()
    for pk, kind, count in rows:
        if kind in ITEM_UNITS and pk in jobs:
            counts[jobs[pk].judge.name, ITEM_UNITS[kind]] += count
    for pk, nuggets in done.filter(kind="assign").values_list("job", "payload__nuggets").iterator():
        if pk in jobs:
            # An item of assigning has a label for each of its nuggets.
            counts[jobs[pk].judge.name, LABEL] += len(nuggets or ())
    return counts


TITLE = "Cost"
WORDS = {condition.value: condition.words for condition in Condition}
REFERENCES = (Condition.MM, Condition.EM, Condition.AM)
"""Conditions that people labelled, the one wholly manual first."""


def rate_field() -> forms.DecimalField:
    return forms.DecimalField(
        required=False, min_value=0, max_value=100_000, decimal_places=2, label="An assessor's hour costs"
    )


class CostForm(PolicyForm):
    """Hourly rate, by default the campaign's, and the condition of reference."""

    rate = rate_field()
    score = forms.ChoiceField(choices=score_choices(OF_NUGGETS, sizes=False), label="Score")
    reference = choice_field(
        "Agreement with",
        "manual before edited before automatic",
        [(condition.value, f"{condition.words} ({condition})") for condition in REFERENCES],
    )
    label_seconds = forms.FloatField(
        required=False, min_value=0, max_value=86_400, label="Seconds a person takes for a label"
    )
    llm_list = forms.FloatField(required=False, min_value=0, max_value=100_000, label="An LLM's nugget list costs")
    llm_label = forms.FloatField(required=False, min_value=0, max_value=100_000, label="An LLM's label costs")
    folded = ("label_seconds", "llm_list", "llm_label")
    folded_text = "Assumed costs"
    field_order = ["rate", "score", "reference"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        kept = campaign.hourly_rate
        rate = {} if kept is None else {"rate": str(kept)}
        super().__init__(query, campaign, {"score": primary_of(profile_of(campaign)), **rate})
        self.offer("score", score_choices(profiles_of(campaign), sizes=False))

    @property
    def assumed(self) -> dict[str, float | None]:
        rate, each = self.chosen["rate"], self.chosen["label_seconds"]
        person = None if rate is None or each is None else float(rate) * each / 3600
        return {"person": person, LIST: self.chosen["llm_list"], LABEL: self.chosen["llm_label"]}


class RateForm(forms.Form):
    """Hourly rate to be kept; empty for unknown."""

    rate = rate_field()


@dataclass(frozen=True, slots=True)
class Prices:
    """Costs of units by people and by LLMs; `assumed` is for units without a measurement."""

    people: dict[Stage, Unit]
    llms: LlmUnits
    assumed: dict[str, float | None]

    def of(self, choice: NuggetCondition) -> tuple[float | None, float | None]:
        """Costs of a topic's list and of its labels; None where unknown."""
        origin = choice.condition.origin
        if origin is Origin.MANUAL:
            lists = self._made(Origin.MANUAL)
        else:
            maker = next((nugget_set.judge.name for nugget_set in choice.nugget_sets if nugget_set.judge), "")
            lists = self._llm(maker, LIST)
            if origin is Origin.EDITED:
                lists = _sum(lists, self._made(Origin.EDITED))
        label, number = self._label(choice), _labels_per_topic(choice)
        return lists, None if label is None or number is None else label * number

    def _made(self, origin: Origin) -> float | None:
        return next(unit.cost for stage, unit in self.people.items() if stage.origin is origin)

    def _label(self, choice: NuggetCondition) -> float | None:
        if choice.condition.judge_kind is JudgeKind.HUMAN:
            measured = next(unit.cost for stage, unit in self.people.items() if stage.by_list)
            return self.assumed["person"] if measured is None else measured
        return self._llm(choice.judges[0].name if len(choice.judges) == 1 else "", LABEL)

    def _llm(self, judge: str, what: str) -> float | None:
        paid = self.llms.cost(judge, what)
        return self.assumed[what] if paid is None else paid


def cost_page(campaign: Campaign, query: QueryDict) -> Report:
    with consistent_read():
        return report_of(CostForm(query, campaign), TITLE, query, _content)


def _content(form: CostForm) -> ReportContent:
    campaign = form.campaign
    # Computed at each request: beats and calls do not change the campaign's revision.
    rate: Decimal | None = form.chosen["rate"]
    prices = Prices(person_units(campaign, rate), llm_units(campaign), form.assumed)
    choices = list(judged_conditions(campaign))
    reference = _reference(choices, form.chosen["reference"])
    facts = sentences(
        f"An assessor's hour costs {rate}." if rate is not None else "Say what an assessor's hour costs.",
        f"LLM prices in {prices.llms.currency}."
        if prices.llms.currency
        else "LLM prices have no currency, or several.",
        f"Agreement with {reference.condition.words} ({reference.condition}): tau-b of "
        f"{BY_NAME[form.chosen['score']].spoken}."
        if reference
        else "No condition was labelled by people, so there is nothing to agree with.",
        policies_text(policies_document(form.policies), campaign),
        "People's time is their active time; where none was measured, what was published: an hour to edit a topic's "
        "drafts, two and a half to write its nuggets.",
    )
    rows = [_row(choice, prices, reference, form) for choice in choices]
    return ReportContent(facts, (conditions_table(rows), _units_table(prices)))


def _reference(choices: list[NuggetCondition], named: str) -> NuggetCondition | None:
    by_condition = {choice.condition: choice for choice in choices}
    references = [Condition(named)] if named else REFERENCES
    return next((by_condition[condition] for condition in references if condition in by_condition), None)


def _row(
    choice: NuggetCondition, prices: Prices, reference: NuggetCondition | None, form: CostForm
) -> dict[str, Any]:
    lists, labels = prices.of(choice)
    tau = None
    if reference and choice.condition is not reference.condition:
        tau = agreement_of(choice, reference, form.chosen["score"], replace(form.policies, topics="common"))
    return {
        "condition": choice.condition.value,
        "nuggets": choice.sets_text,
        "judge": choice.judges_text,
        "list_cost": lists,
        "label_cost": labels,
        "cost": _sum(lists, labels),
        "run_level": tau.run_level if tau else None,
        "topic_average": tau.topic_average if tau else None,
        "runs": tau.runs if tau else 0,
        "topics": tau.topics if tau else 0,
    }


def conditions_table(rows: list[dict[str, Any]]) -> Section:
    points = list(_points(rows))
    table_columns = columns(
        ("condition", "Condition", ColumnKind.CONDITION),
        ("nuggets", "Nuggets"),
        ("judge", "Labels by"),
        ("list_cost", "List", ColumnKind.MONEY),
        ("label_cost", "Labels", ColumnKind.MONEY),
        ("cost", "A topic", ColumnKind.MONEY),
        ("run_level", "Tau over run means", ColumnKind.TAU),
        ("topic_average", "Tau, mean over topics", ColumnKind.SCORE),
        primary="cost",
        screen="nuggets judge",
    )
    return Section(
        OVERVIEW,
        "Agreement against cost",
        table_columns,
        rows,
        note=_note(rows, points),
        chart=_chart(points),
        topics="topics",
    )


def _points(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        has_both = row["cost"] is not None and row["run_level"] is not None
        if has_both and has_tau(row["runs"], row["topics"]):
            yield {"name": row["condition"], "task": "condition", "x": row["cost"], "y": row["run_level"]}


def _chart(points: list[dict[str, Any]]) -> Chart:
    titles = ("cost per topic", "tau-b over run means")
    return Chart(
        alt=f"Agreement against cost of {len(points):,} {plural(len(points), 'condition')}.",
        draw=lambda palette: charts.plane(
            palette, charts.named(points, WORDS, palette), titles, ends=_ends(points)
        ),
        note="A point is a condition: the cost of a topic, and how far its runs rank as under the reference.",
        # One point says nothing about any other.
        shown=len(points) > 1,
        links={condition.words: f"../../leaderboard/?condition={condition}" for condition in Condition},
    )


def _ends(points: list[dict[str, Any]]) -> charts.Ends:
    """Return the ends of the axes: from no cost, and from tau 0, or -1 where a tau is negative, to 1."""
    highest = max((point["x"] for point in points), default=1.0)
    lowest = min((point["y"] for point in points), default=0.0)
    return (0.0, highest or 1.0), (-1.0 if lowest < 0 else 0.0, 1.0)


def _note(rows: list[dict[str, Any]], points: list[dict[str, Any]]) -> str:
    notes = ["Cost of one topic: its nugget list, drafts included, and the labels of all its answers."]
    if len(points) == 1:
        [point] = points
        notes.append(
            f"Only {point['name']} has a known cost and a tau: {money(point['x'])} a topic, tau {score(point['y'])}."
        )
    unknown = [row["condition"] for row in rows if row["cost"] is None]
    if unknown:
        notes.append(f"{len(unknown)} of {len(rows)} conditions have no known cost: {', '.join(unknown)}.")
    return " ".join(notes)


def _units_table(prices: Prices) -> Section:
    rows: list[Row] = [_unit_row(unit) for unit in (*prices.people.values(), *prices.llms.by_judge.values())]
    table_columns = columns(
        ("what", "Judgment"),
        ("by", "By"),
        ("units", "Computed from", ColumnKind.COUNT),
        ("seconds", "Time", ColumnKind.CLOCK),
        ("cost", "Cost", ColumnKind.MONEY),
        ("basis", "Basis"),
        primary="cost",
    )
    return Section("units", "What a judgment costs", table_columns, rows)


def _unit_row(unit: Unit) -> Row:
    basis = (
        "published" if unit.published else "" if not unit.units else "paid" if unit.seconds is None else "measured"
    )
    return {name: getattr(unit, name) for name in ("what", "by", "units", "seconds", "cost")} | {"basis": basis}


def _labels_per_topic(choice: NuggetCondition) -> float | None:
    sheet = assignment_sheet(choice)
    labels = sheet.labels >= 0
    topics = len(set(sheet.nugget_topic[labels.any(axis=1)].tolist()))
    return float(labels.sum()) / topics if topics else None


def _sum(first: float | None, other: float | None) -> float | None:
    return None if first is None or other is None else first + other


@require_safe
def cost(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    page = cost_page(campaign, request.GET)
    rate = page.form.chosen["rate"] if page.content else campaign.hourly_rate
    offered = may_organize(request.user, campaign) and rate != campaign.hourly_rate
    no_reference = None if LABELS_BY_PEOPLE.is_met(offer_of(campaign)) else LABELS_BY_PEOPLE.lack
    more = {"rate": rate, "may_keep_rate": offered, "no_reference": no_reference}
    return page_response(request, campaign, page, "cost", template="organizer/cost.html", more=more)


@require_POST
def keep_rate(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form = RateForm(request.POST)
    if form.is_valid():
        set_hourly_rate(campaign=campaign, rate=form.cleaned_data["rate"], actor=request.user)
        messages.success(request, "The campaign keeps what an hour costs.")
    else:
        messages.error(request, "An hour costs a number from 0 to 100,000, with two decimals at most.")
    return redirect("organizer:cost", slug)


@require_safe
def cost_table(request: UserRequest, slug: str, part: str, table: TableForm) -> HttpResponse:
    return table_response(cost_page(get_campaign(request.user, slug), request.GET), part, table, slug, "cost")


@require_safe
def cost_picture(request: UserRequest, slug: str, part: str, picture: PictureForm) -> HttpResponse:
    return part_picture(request, cost_page(get_campaign(request.user, slug), request.GET), part, picture)
