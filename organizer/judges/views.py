"""Judges and connections: who labels here, by which model, and at which price."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.access import may_run_jobs
from evaluation.errors import Refused
from evaluation.judges import JSON_SCHEMA, REPLY_FORM
from evaluation.models import Assignment, Campaign, Judge, SupportJudgment, Verdict
from evaluation.terms import JudgeKind
from llmjobs.budget import Price, price_in, price_of
from llmjobs.client import LONGEST_MODEL, default_endpoint, endpoint_at, models_at
from llmjobs.connections import (
    OfferedEndpoint,
    TestStep,
    may_connect,
    newest_connections,
    offered_endpoints,
    save_connection,
    steps_of,
    try_connection,
)
from llmjobs.job_status import callable_judges_for, prompts_for
from llmjobs.models import LONGEST_CONNECTION, Connection
from llmjobs.prompt_store import (
    EFFORTS,
    Parameters,
    add_llm_judge,
    all_templates,
    name_and_version,
    parameters_of,
    record_judge,
)
from llmjobs.prompts.texts import TEMPLATES
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer.access import get_campaign, or_404
from organizer.cost import LABEL, SUPPORT, LlmUnits, llm_units
from organizer.forms import choice_field, named, posted, refusals_on
from organizer.navigation import page_in
from organizer.templatetags.work import PROMPT_TASKS
from reports.quality.judges import JudgeTrust, trust_of
from web.fields import TextField
from web.outbound import DEFAULT

MODELS_SECONDS = 3.0
"""Seconds that the form waits for an endpoint's list of models; without it the model is typed."""


def price_field(label: str) -> forms.DecimalField:
    return forms.DecimalField(required=False, min_value=0, max_digits=12, decimal_places=6, label=label)


@dataclass(frozen=True, slots=True)
class JudgeListRow:
    """A judge in the table. `labels`: those in force here; `cost`: of one label, None where no price is known.

    `trusts`: its agreement with people, task by task.
    """

    judge: Judge
    name: str
    version: int
    connection: Connection | None
    labels: int
    cost: float | None
    trusts: Sequence[JudgeTrust]

    @property
    def simulated(self) -> bool:
        return self.judge.model == SIMULATED_MODEL


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """A connection in the table. `offered` is None where the list has its endpoint no more."""

    connection: Connection
    offered: OfferedEndpoint | None
    price: Price | None
    steps: list[TestStep]

    @property
    def failed(self) -> TestStep | None:
        return next((step for step in self.steps if step.passed is False), None)


class ConnectionForm(forms.Form):
    """A model at an endpoint of the list, and its price. The key is the endpoint's own, and is never typed."""

    endpoint = TextField(widget=forms.HiddenInput, label="Endpoint")
    model = TextField(max_length=LONGEST_MODEL, label="Model")
    name = TextField(max_length=LONGEST_CONNECTION, label="Name of the connection")
    prompt_price = price_field("Price of a million tokens in")
    completion_price = price_field("Price of a million tokens out")
    currency = forms.RegexField("^[A-Z]{3}$", required=False, initial="USD", label="Currency")

    currency.error_messages["invalid"] = "Three capital letters, such as USD or EUR."

    def clean_endpoint(self) -> OfferedEndpoint:
        """Take an endpoint of the list only: any other address could lead a request into the network."""
        name, offered = self.cleaned_data["endpoint"], offered_endpoints()
        if name not in offered:
            raise forms.ValidationError(
                f"“{name[:80]}” is not in the list. Only its endpoints may be called, at their own addresses; an "
                "administrator adds one with the setting LLM_ENDPOINTS."
            )
        return offered[name]

    def clean(self) -> dict[str, Any]:
        """Refuse one price without the other, because a cost needs both."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        prices = [name for name in ("prompt_price", "completion_price") if values.get(name) is not None]
        if len(prices) == 1:
            missing = "completion_price" if prices == ["prompt_price"] else "prompt_price"
            self.add_error(missing, "Both prices or none.")
        if prices and not values.get("currency") and "currency" not in self.errors:
            self.add_error("currency", "The currency of the prices.")
        return values

    def connection(self, maker: User) -> Connection:
        values = self.cleaned_data
        priced = values["prompt_price"] is not None
        return Connection(
            name=values["name"],
            endpoint=values["endpoint"].name,
            base_url=values["endpoint"].base_url,
            model=values["model"],
            currency=values["currency"] if priced else "",
            prompt_price=values["prompt_price"],
            completion_price=values["completion_price"],
            made_by=maker,
        )


@dataclass(frozen=True, slots=True)
class CallableModel:
    model: str
    base_url: str
    caption: str


def callable_models(judges: list[Judge]) -> dict[str, CallableModel]:
    """Models by the key of their choice: of connections, then the default endpoint's, then what only judges have."""
    models = {
        f"connection-{row.pk}": CallableModel(
            row.model, row.base_url, f"{row.name}, version {row.version}: {row.model} at {row.endpoint}"
        )
        for row in newest_connections()
    }
    own = default_endpoint().model
    rest = {"": CallableModel(own, "", f"{own} at {DEFAULT}")}
    for judge in judges:
        rest[f"judge-{judge.pk}"] = CallableModel(judge.model, judge.base_url, f"{judge.model}, as {judge.name}")
    for key, choice in rest.items():
        if all((choice.model, choice.base_url) != (other.model, other.base_url) for other in models.values()):
            models[key] = choice
    return models


class JudgeForm(forms.Form):
    """A model, its prompts, and its parameters. A name that is there gets the next version."""

    name = TextField(max_length=180, label="Name")
    temperature = forms.FloatField(
        required=False, min_value=0, max_value=2, initial=0, label="Temperature, 0 to 2; empty: not sent"
    )
    reasoning_effort = forms.ChoiceField(
        required=False,
        choices=[("", "not sent"), *((effort, effort) for effort in EFFORTS)],
        label="Reasoning effort",
    )
    max_completion_tokens = forms.IntegerField(
        required=False, min_value=1, max_value=10_000_000, label="Tokens of a reply at most; empty: not sent"
    )
    passage_words = forms.IntegerField(
        required=False, min_value=0, max_value=1_000_000, label="Words of a passage at most; empty: sent whole"
    )
    structured = forms.BooleanField(required=False, label="Structured")

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None, like: str = "") -> None:
        """`like`: name of a judge with whose values the form begins, or key of a model."""
        judges = callable_judges_for(viewer, campaign)
        self.models = callable_models(judges)
        begun = next((judge for judge in judges if judge.name == like), None)
        new: dict[str, Any] = {"connection": like}
        for row in newest_connections():
            if like == f"connection-{row.pk}":
                new |= {"name": row.name, "structured": bool(row.test and not row.test["fault"])}
        super().__init__(data, initial=self._values_of(begun) if begun else new)
        captions = [(key, model.caption) for key, model in self.models.items()]
        self.fields["connection"] = forms.ChoiceField(choices=captions, required=False, label="Connection")
        for task, built_in in TEMPLATES.items():
            refs = [template.ref for template in all_templates(prompts_for(viewer), task)]
            own = named(ref for ref in refs if ref != built_in.ref)
            self.fields[task] = choice_field(PROMPT_TASKS[task], f"{built_in.ref}, built in", own)

    @property
    def prompts(self) -> list[forms.BoundField]:
        return [self[task] for task in TEMPLATES]

    def _values_of(self, judge: Judge) -> dict[str, Any]:
        versions = judge.prompt_versions
        same = (key for key, model in self.models.items() if _is_of(judge, model.base_url, model.model))
        values: dict[str, Any] = versions | {
            "name": name_and_version(judge.name)[0],
            "connection": next(same, ""),
            "structured": versions.get(REPLY_FORM) == JSON_SCHEMA,
            "temperature": parameters_of(versions)[0],
        }
        return values

    def clean_connection(self) -> CallableModel:
        key = self.cleaned_data["connection"]
        if key not in self.models:  # nothing was chosen, and the default endpoint's own model has a connection
            raise forms.ValidationError("Choose a connection.")
        return self.models[key]

    def save(self) -> tuple[Judge, bool]:
        values = self.cleaned_data
        return add_llm_judge(
            name=values["name"],
            model=values["connection"].model,
            base_url=values["connection"].base_url,
            prompts={task: values[task] for task in TEMPLATES if values[task]},
            structured=values["structured"],
            parameters=Parameters(
                # Without the field a program says nothing of it.
                values["temperature"] if "temperature" in self.data else 0.0,
                values["reasoning_effort"],
                values["max_completion_tokens"],
                values["passage_words"],
            ),
        )


def _is_of(judge: Judge, base_url: str, model: str) -> bool:
    return (judge.base_url.rstrip("/"), judge.model) == (base_url.rstrip("/"), model)


def judge_rows(viewer: User, campaign: Campaign, units: LlmUnits) -> list[JudgeListRow]:
    """LLMs that may be called, and those whose labels are in force here; the one with most labels is the first."""
    labels = _labels(campaign)
    here = Judge.objects.filter(pk__in=labels, kind=JudgeKind.LLM, aside=False)
    judges = {judge.pk: judge for judge in [*callable_judges_for(viewer, campaign), *here]}
    connections, trusts = list(Connection.objects.order_by("-pk")), trust_of(campaign)
    rows = []
    for judge in judges.values():
        unit = units.by_judge.get((judge.name, LABEL)) or units.by_judge.get((judge.name, SUPPORT))
        connection = next((row for row in connections if _is_of(judge, row.base_url, row.model)), None)
        cost = unit.cost if unit else None
        tasks = trusts.get(judge.pk, ())
        rows.append(JudgeListRow(judge, *name_and_version(judge.name), connection, labels[judge.pk], cost, tasks))
    return sorted(rows, key=lambda row: (-row.labels, row.name, -row.version))


def _labels(campaign: Campaign) -> Counter[int]:
    counts = Counter[int]()
    for labels in (
        Assignment.objects.current().filter(answer__topic__campaign=campaign),
        SupportJudgment.objects.current().filter(segment__campaign=campaign),
        Verdict.objects.current().filter(battle__battle_set__campaign=campaign),
    ):
        counts.update(dict(labels.order_by().values_list("judge").annotate(Count("pk"))))
    return counts


def connection_rows() -> list[ConnectionRow]:
    offered = offered_endpoints()
    return [_connection_row(row, offered) for row in newest_connections()]


def _connection_row(connection: Connection, offered: Mapping[str, OfferedEndpoint]) -> ConnectionRow:
    endpoint = offered.get(connection.endpoint)
    listed = endpoint if endpoint and endpoint.base_url == connection.base_url else None
    price = price_in(connection) or price_of(connection.model)
    return ConnectionRow(connection, listed, price, steps_of(connection))


@require_safe
def judges(request: UserRequest, slug: str) -> HttpResponse:
    """`?connection=KEY` names the connection whose test is shown, unless it is the one tested last."""
    campaign = get_campaign(request.user, slug)
    connections, units = connection_rows(), llm_units(campaign)
    rows = judge_rows(request.user, campaign, units)
    key = request.GET.get("connection", "")
    tested = [row for row in connections if row.connection.tested_at]
    newest = max(tested, key=lambda row: row.connection.tested_at or row.connection.made_at, default=None)
    opened = next((row for row in connections if str(row.connection.pk) == key), newest)
    context = {
        "campaign": campaign,
        "judges": rows,
        "people": {trust.task: trust.people for row in rows for trust in row.trusts},
        "currency": units.currency,
        "connections": connections,
        "shown": opened,
        "may_run": may_run_jobs(request.user, campaign),
        "may_connect": may_connect(request.user, campaign),
    }
    return render(request, "organizer/judges.html", context)


TESTED = "connection_tested"
"""Key of the session under which the test of a connection waits until it is saved: no browser may bring its own."""


@require_http_methods(["GET", "HEAD", "POST"])
def new_connection(request: UserRequest, slug: str) -> HttpResponse:
    """Test by `test` and save by `save`; `?endpoint=NAME` and `?like=KEY` say with which values the form begins."""
    campaign = get_campaign(request.user, slug, may_connect)
    offered = offered_endpoints()
    initial = _connection_values(request.GET.get("like", ""), request.GET.get("endpoint", ""), offered)
    form = ConnectionForm(posted(request), initial=initial)
    row = None
    if form.is_valid():
        connection = form.connection(request.user)
        with refusals_on(form, connection_there="model"):
            if "test" in request.POST:
                try_connection(connection, campaign, request.user)
                request.session[TESTED] = _kept(connection)
                row = _connection_row(connection, offered)
            else:
                return _saved(request, campaign, connection)
    endpoint = offered.get(form["endpoint"].value(), offered[DEFAULT])
    context = {
        "campaign": campaign,
        "form": form,
        "row": row,
        "endpoints": offered.values(),
        "endpoint": endpoint,
        "models": _models(endpoint),
    }
    return render(request, "organizer/connection_new.html", context, status=422 if form.errors else 200)


def _connection_values(key: str, endpoint: str, offered: Mapping[str, OfferedEndpoint]) -> dict[str, Any]:
    """Values with which the form begins: of the connection of that key, else only the endpoint."""
    like = next((row for row in newest_connections() if str(row.pk) == key), None)
    values = forms.model_to_dict(like, fields=ConnectionForm.base_fields) if like else {}
    name = endpoint or values.get("endpoint", "")
    return values | {"endpoint": name if name in offered else DEFAULT}


def _models(endpoint: OfferedEndpoint) -> list[str]:
    try:
        return models_at(endpoint_at(endpoint.base_url), MODELS_SECONDS)
    except Refused:
        return []


def _kept(connection: Connection) -> dict[str, Any]:
    fields = ("endpoint", "base_url", "model", "test")
    return {field: getattr(connection, field) for field in fields} | {"at": str(connection.tested_at)}


def _saved(request: UserRequest, campaign: Campaign, connection: Connection) -> HttpResponse:
    """Save and lead to the judges. Raises `Refused`."""
    kept = request.session.get(TESTED)
    tested = None
    if kept:
        at = datetime.fromisoformat(kept["at"])
        tested = Connection(**{field: kept[field] for field in kept if field != "at"}, tested_at=at)
    saved, is_new = save_connection(connection, campaign, request.user, tested)
    request.session.pop(TESTED, None)
    outcome = "Saved" if is_new else "There already, just so; nothing was changed"
    untested = "" if saved.tested_at else " It is not tested."
    messages.success(request, f"{outcome}: {saved.name}, version {saved.version}.{untested}")
    return redirect(page_in(campaign, "judges", connection=saved.pk))


@require_POST
def test_connection(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_run_jobs)
    connection = or_404(Connection.objects.get, pk=pk)
    try_connection(connection, campaign, request.user)
    connection.save(update_fields=["test", "tested_at"])
    return redirect(page_in(campaign, "judges", connection=pk))


@require_http_methods(["GET", "HEAD", "POST"])
def new_judge(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_run_jobs)
    form = JudgeForm(request.user, campaign, posted(request), request.GET.get("like", ""))
    if form.is_valid():
        with refusals_on(form):
            judge, is_new = form.save()
            record_judge(campaign, judge, request.user)
            outcome = "Made" if is_new else "There already, just so; nothing was changed"
            messages.success(request, f"{outcome}: {judge.name}. It can be chosen when a job is started.")
            return redirect("organizer:judges", campaign.slug)
    context = {"campaign": campaign, "form": form, "may_connect": may_connect(request.user, campaign)}
    return render(request, "organizer/judge_new.html", context, status=422 if form.errors else 200)
