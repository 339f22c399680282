"""Connections: endpoints that the administrators list, each version with a model and a price, and their tests.

A test is one request with structured output. It labels nothing and is no call of a job: what it found is kept with the
connection, and an event says who asked, and for how many tokens. The key is named everywhere and shown nowhere.
"""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from accounts.models import User
from evaluation.campaigns.access import may_run_jobs
from evaluation.errors import Refused
from evaluation.models import Campaign, Event
from evaluation.rules.text import check_name
from llmjobs.budget import price_in, price_of
from llmjobs.client import NO_PARAMETER, NO_STRUCTURED, CallRefusal, Endpoint, default_endpoint, endpoint_at, send
from llmjobs.engine.calls import NewCall, count_of
from llmjobs.models import Connection
from llmjobs.prompts.template import ReplyForm
from llmjobs.prompts.texts import ASSIGN
from llmjobs.steps.asking import question
from web.environment import secret
from web.outbound import DEFAULT

LONGEST_TEST = 30.0
"""Seconds that a test waits: a page waits with it."""


@dataclass(frozen=True, slots=True)
class OfferedEndpoint:
    """An endpoint that connections may use. `key`: name of the variable with its key; '' where it wants none."""

    name: str
    base_url: str
    address: str
    key: str

    @property
    def has_key(self) -> bool:
        try:
            return bool(secret(self.key))
        except ImproperlyConfigured:  # its file went away while the server ran
            return False


def offered_endpoints() -> dict[str, OfferedEndpoint]:
    default = default_endpoint()
    own_key = "AZURE_OPENAI_API_KEY" if default.deployment else "OPENAI_API_KEY"
    first = OfferedEndpoint(DEFAULT, "", default.name, own_key if default.api_key.get_secret_value() else "")
    listed = (OfferedEndpoint(row.name, row.address, row.address, row.key) for row in settings.LLM_ENDPOINTS)
    return {offered.name: offered for offered in (first, *listed)}


def may_connect(viewer: User, campaign: Campaign) -> bool:
    """Say whether somebody may make connections: an administrator always, an organizer only where the setting says."""
    return may_run_jobs(viewer, campaign) and (settings.ORGANIZERS_MAKE_CONNECTIONS or viewer.is_superuser)


def newest_connections() -> list[Connection]:
    newest_first = Window(RowNumber(), partition_by=F("name"), order_by=F("version").desc())
    return list(Connection.objects.annotate(age=newest_first).filter(age=1).order_by("name"))


@dataclass(frozen=True, slots=True)
class ConnectionTest:
    """Findings of a test. `fault` is '' where all went well; `quoted`: the endpoint's own words, without secrets."""

    fault: str = ""
    status: int | None = None
    quoted: str = ""
    latency_ms: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    step: Literal["reached", "answers", "structured"]
    text: str
    remedy: str


LIST = "An administrator corrects the address in the settings."
PLAIN = "Make judges without structured output: labels are then read from plain text, and more of them fail."
FAULTS = {
    "unreachable": Fault(
        "reached", "Nothing that may be called answers at this address.", f"Is the server running? {LIST}"
    ),
    "redirect": Fault(
        "reached",
        "The endpoint leads to another address, and redirects are never followed: nothing was sent there.",
        f"If the other address is meant, it has to be in the list itself. {LIST}",
    ),
    "path": Fault(
        "reached", "There is no chat API at this address.", f"The path may be missing, often /v1. {LIST}"
    ),
    "key": Fault("answers", "The endpoint does not accept the key.", "Ask an administrator to set the right key."),
    "model": Fault(
        "answers", "The endpoint has no such model.", "Choose one from its list of models, or mend the spelling."
    ),
    "timeout": Fault(
        "answers", "No answer in time.", "The model may still be loading, or be too slow: test again in a minute."
    ),
    "busy": Fault(
        "answers",
        "The endpoint has too many requests, or its account no credit.",
        "Test again in a minute; an administrator sees the account.",
    ),
    "server": Fault("answers", "The endpoint failed with an error of its own.", "Test again; then see its log."),
    "parameter": Fault(
        "answers",
        "The model refuses a parameter of the request.",
        "Make its judges without it: at New judge leave Temperature empty.",
    ),
    "request": Fault("answers", "The endpoint refuses the request.", "Choose a model that chats."),
    "not_json": Fault(
        "answers",
        "The answer is not the JSON of a chat API.",
        f"A sign-in page or another program may stand at this address. {LIST}",
    ),
    "bad_json": Fault(
        "structured", "The reply begins as JSON and cannot be read: it is cut off or broken.", PLAIN
    ),
    "schema": Fault("structured", "Structured output ignored: the reply does not keep to the schema.", PLAIN),
    "no_structured": Fault("structured", "The endpoint refuses structured output.", PLAIN),
}


@dataclass(frozen=True, slots=True)
class TestStep:
    """A line of a test on the page. `passed` is None where a fault came before."""

    caption: str
    passed: bool | None
    figure: str = ""
    remedy: str = ""


def steps_of(connection: Connection) -> list[TestStep]:
    """Lines of the last test in the order in which a request goes; none unless there was one."""
    if connection.test is None:
        return []
    test = ConnectionTest(**connection.test)
    fault = FAULTS.get(test.fault)
    lines = [
        ("reached", "Endpoint reached"),
        ("answers", "Model answers"),
        ("structured", "Structured output kept"),
    ]
    failed_at = next((place for place, (step, _) in enumerate(lines) if fault and fault.step == step), len(lines))
    steps = []
    for place, (step, caption) in enumerate(lines):
        took = f"{test.latency_ms / 1000:.1f} s" if step == "answers" and place <= failed_at else ""
        if fault and place == failed_at:
            code = f" ({test.status})" if test.status and test.status >= 300 else ""
            quoted = f" Found: {test.quoted}" if test.quoted else ""
            steps.append(TestStep(f"{fault.text.rstrip('.')}{code}.", False, took, f"{fault.remedy}{quoted}"))
        else:
            steps.append(TestStep(caption, True if place < failed_at else None, took))
    tokens = test.prompt_tokens is not None and test.completion_tokens is not None
    return [*steps, TestStep("Tokens and price", tokens or None, _spent(connection, test) if tokens else "")]


def _spent(connection: Connection, test: ConnectionTest) -> str:
    prompt, completion = test.prompt_tokens or 0, test.completion_tokens or 0
    price = price_in(connection) or price_of(connection.model)
    cost = f"{price.of(prompt, completion):.6f} {price.currency}" if price else "no price set"
    return f"{prompt:,} in, {completion:,} out; {cost}"


def try_connection(connection: Connection, campaign: Campaign, actor: User) -> None:
    """Send one request and note on the connection, which the caller saves, what became of it; an event is kept.

    Raises `Refused` for an endpoint that is not in the list any more.
    """
    endpoint = connection_endpoint(connection)
    endpoint = replace(endpoint, timeout=min(endpoint.timeout, LONGEST_TEST))
    test = _tested(endpoint, connection.model)
    connection.test, connection.tested_at = asdict(test), timezone.now()
    tokens = {"prompt_tokens": test.prompt_tokens, "completion_tokens": test.completion_tokens}
    _note("connection.tested", connection, campaign, actor, {"found": test.fault or "passed", **tokens})


def connection_endpoint(connection: Connection) -> Endpoint:
    """Return the endpoint of a connection. Raises `Refused` where the list has no such endpoint, or another address."""
    offered = offered_endpoints().get(connection.endpoint)
    if offered is None or offered.base_url != connection.base_url:
        raise Refused(
            "bad_endpoint",
            f"The endpoint {connection.endpoint} of this connection is not in the administrators' list any more, or "
            "has another address there. Make a new version of the connection.",
        )
    return endpoint_at(connection.base_url)


def _tested(endpoint: Endpoint, model: str) -> ConnectionTest:
    ask = question(
        replace(ASSIGN, structured=True),
        "test",
        query="why rivers bend",
        passage="Rivers bend because they wear away their outer bank.",
        nuggets=["the outer bank wears away", "dams change the flow"],
        length=2,
    )
    reply = send(endpoint, NewCall(ask, endpoint, model, 0).request)
    if isinstance(reply, CallRefusal):
        return ConnectionTest(_fault_of(reply, model), reply.status, reply.message, reply.latency_ms)
    fault = "" if ask.form and _keeps_to(ask.form, reply.text) else "schema"
    if fault and (reply.finish_reason == "length" or _is_broken(reply.text)):
        fault = "bad_json"
    return ConnectionTest(
        fault,
        latency_ms=reply.latency_ms,
        prompt_tokens=count_of(reply.prompt_tokens),
        completion_tokens=count_of(reply.completion_tokens),
    )


def _keeps_to(form: ReplyForm, reply: str) -> bool:
    plain = form.plain(reply)
    return plain is not None and set(json.loads(plain)) <= set(form.values["items"]["enum"])


def _is_broken(reply: str) -> bool:
    if not reply.lstrip().removeprefix("```json").lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(reply.strip().removeprefix("```json").removesuffix("```"))
    except (ValueError, RecursionError):
        return True
    return False


FAULT_OF_KIND = {
    "auth": "key",
    "rate_limited": "busy",
    "server_error": "server",
    "bad_request": "request",
    "timeout": "timeout",
    "unreachable": "unreachable",
}


def _fault_of(refusal: CallRefusal, model: str) -> str:
    status, quoted = refusal.status or 0, refusal.message
    in_our_words = {NO_STRUCTURED: "no_structured", NO_PARAMETER.partition("{")[0]: "parameter"}
    if fault := next((fault for words, fault in in_our_words.items() if quoted.startswith(words)), ""):
        return fault
    if 300 <= status < 400:
        return "redirect"
    if status in (404, 405):
        # A server without the address says so; one without the model names it, each in words of its own.
        return "model" if "model" in quoted.lower() else "path"
    if refusal.kind == "bad_request" and model in quoted:
        return "model"
    by_status = {200: "not_json", 402: "busy"}
    return by_status.get(status) or FAULT_OF_KIND[refusal.kind]


@transaction.atomic
def save_connection(
    connection: Connection, campaign: Campaign, actor: User, tested: Connection | None = None
) -> tuple[Connection, bool]:
    """Save a connection as the next version of its name; return it and whether it is new. The same changes nothing.

    Raises `Refused` where another name is in use for its model and address.
    `tested`: a connection as it was tested; its test is kept where endpoint and model are the same.
    """
    check_name("connection", connection.name)
    # One lock for the server, because connections are of no campaign: two may be saved to the same model at once.
    list(Campaign.objects.select_for_update(no_key=True).order_by("pk")[:1])
    before = Connection.objects.filter(name=connection.name).order_by("-version").first()
    saved, is_new = connection, before is None or _subject(before) != _subject(connection)
    if before and not is_new:
        saved = before
    elif before:
        connection.version = before.version + 1
    if is_new:
        _check_only_one(connection)
    if tested and _target(tested) == _target(saved):
        saved.test, saved.tested_at = tested.test, tested.tested_at
    saved.save()
    if is_new:
        _note("connection.made", saved, campaign, actor, {})
    return saved, is_new


def _check_only_one(connection: Connection) -> None:
    """Refuse a second connection to a model at an address: judges are found by both, and would change their price."""
    way = connection.base_url, connection.model
    same = (row for row in newest_connections() if (row.base_url, row.model) == way)
    used = next(same, connection)
    if used.name != connection.name:
        text = (
            f"There is a connection to this model at this endpoint: {used.name}. Change it, or its price, there."
        )
        raise Refused("connection_there", text)


def _target(connection: Connection) -> tuple[str, str, str]:
    return connection.endpoint, connection.base_url, connection.model


def _subject(connection: Connection) -> tuple[object, ...]:
    return *_target(connection), connection.currency, connection.prompt_price, connection.completion_price


def _note(kind: str, connection: Connection, campaign: Campaign, actor: User, more: dict[str, Any]) -> None:
    payload = {
        "name": connection.name,
        "version": connection.version,
        "endpoint": connection.endpoint,
        "model": connection.model,
    }
    Event.objects.create(campaign=campaign, kind=kind, actor=actor, payload=payload | more)
