"""The record of calls: found by what they ask, written before they are sent, answered once."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from evaluation.models import Event
from llmjobs.client import CallRefusal, ChatRequest, Completion, Endpoint
from llmjobs.models import Attempt, Call, Text
from llmjobs.steps.asking import Ask

BATCH = 200
MOST_TOKENS = 2**31 - 1
TEMPERATURE = 0.0


@dataclass(frozen=True, slots=True)
class NewCall:
    """One Ask addressed to an endpoint: what makes two calls the same call."""

    ask: Ask
    endpoint: Endpoint
    model: str
    replicate: int

    @property
    def parameters(self) -> dict[str, Any]:
        form = self.ask.form
        return {"temperature": TEMPERATURE} | ({"response_format": form.response_format} if form else {})

    @property
    def request(self) -> ChatRequest:
        messages = tuple((message.role, message.content) for message in self.ask.messages)
        return ChatRequest(model=self.model, messages=messages, **self.parameters)

    @property
    def sha256(self) -> str:
        """Identity of the call: endpoint, model, parameters, messages and replicate."""
        parts = [self.endpoint.name, self.model, self.parameters, self.request.messages, self.replicate]
        return _hash(json.dumps(parts, ensure_ascii=False, sort_keys=True))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def find_calls(hashes: Iterable[str]) -> dict[str, Call]:
    wanted, found = list(hashes), {}
    for start in range(0, len(wanted), BATCH):
        part = wanted[start : start + BATCH]
        for call in Call.objects.filter(sha256__in=part).select_related("event"):
            found[call.sha256] = call
    return found


def insert_calls(wanted: Sequence[tuple[str, NewCall]], holder: str) -> dict[str, Call]:
    """Write new calls with their texts; return all by hash, also those another worker wrote meanwhile."""
    texts = {_hash(message.content): message.content for _, one in wanted for message in one.ask.messages}
    Text.objects.bulk_create(
        # In one order everywhere: two workers that write the same must not wait for each other.
        [Text(sha256=sha256, content=texts[sha256]) for sha256 in sorted(texts)],
        batch_size=BATCH,
        ignore_conflicts=True,
    )
    rows = [_row(sha256, one, holder) for sha256, one in sorted(wanted, key=lambda one: one[0])]
    Call.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)
    return find_calls(sha256 for sha256, _ in wanted)


def release(calls: Iterable[int], holder: str) -> None:
    # A call of nobody may be sent by any worker that needs it.
    Call.objects.filter(pk__in=list(calls), holder=holder, state=Call.State.SENT).update(holder="")


def _row(sha256: str, wanted: NewCall, holder: str) -> Call:
    ask = wanted.ask
    return Call(
        sha256=sha256,
        base_url=wanted.endpoint.name,
        model=wanted.model,
        parameters=wanted.parameters,
        messages=[{"role": message.role, "sha256": _hash(message.content)} for message in ask.messages],
        template=ask.template,
        template_version=ask.version,
        template_sha256=ask.template_sha256,
        replicate=wanted.replicate,
        holder=holder,
    )


def note_sending(calls: Sequence[Call], numbers: dict[int, int]) -> list[Attempt]:
    now = timezone.now()
    rows = [Attempt(call=call, number=numbers[call.pk], sent_at=now) for call in calls]
    return Attempt.objects.bulk_create(rows, batch_size=BATCH)


def note_answers(answered: Sequence[tuple[Call, Attempt, Completion]], campaign_of: dict[int, int]) -> None:
    """Write replies, each with its event. A call that another attempt answered first keeps its reply."""
    now = timezone.now()
    for _, attempt, answer in answered:
        attempt.ended_at, attempt.status, attempt.latency_ms = now, 200, answer.latency_ms
    _update(Attempt, [attempt for _, attempt, _ in answered], ATTEMPT_FIELDS)
    open_calls = _still_open([call for call, _, _ in answered])
    first = [(call, answer) for call, _, answer in answered if call.pk in open_calls]
    events = [_event(call, answer, campaign_of[call.pk]) for call, answer in first]
    Event.objects.bulk_create(events, batch_size=BATCH)
    for (call, answer), event in zip(first, events, strict=True):
        call.state, call.reply, call.event, call.ended_at = Call.State.ANSWERED, answer.text, event, now
        call.model_answered, call.finish_reason = _fit(answer.model, 200), _fit(answer.finish_reason, 40)
        call.prompt_tokens, call.completion_tokens = (
            count_of(answer.prompt_tokens),
            count_of(answer.completion_tokens),
        )
        call.latency_ms, call.holder = answer.latency_ms, ""
    _update(Call, [call for call, _ in first], ANSWER_FIELDS)


def _still_open(calls: Sequence[Call]) -> set[int]:
    """Lock calls and return those without an outcome; the others are read again."""
    rows = Call.objects.select_for_update().filter(pk__in=[call.pk for call in calls]).order_by("pk")
    left = {pk for pk, state in rows.values_list("pk", "state") if state == Call.State.SENT}
    for call in calls:
        if call.pk not in left:
            call.refresh_from_db()
    return left


def _fit(text: str, longest: int) -> str:
    # Endpoints make these texts up: they may be too long, and PostgreSQL stores no NUL.
    return text.replace("\0", "")[:longest]


def count_of(tokens: int | None) -> int | None:
    """Return a number of tokens that an endpoint told, None for one that cannot be."""
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None


ANSWER_FIELDS = [
    "state",
    "reply",
    "event",
    "ended_at",
    "model_answered",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "latency_ms",
    "holder",
]
ATTEMPT_FIELDS = ["ended_at", "status", "latency_ms", "error", "message"]


def _event(call: Call, answer: Completion, campaign: int) -> Event:
    payload = {"call": call.sha256, "template": call.template, "model": _fit(answer.model, 200)}
    return Event(campaign_id=campaign, kind="llm.call", payload=payload)


def note_refusals(refused: Sequence[tuple[Attempt, CallRefusal]]) -> None:
    now = timezone.now()
    for attempt, refusal in refused:
        attempt.ended_at, attempt.error, attempt.status = now, refusal.kind, refusal.status
        attempt.message, attempt.latency_ms = refusal.message.replace("\0", ""), refusal.latency_ms
    _update(Attempt, [attempt for attempt, _ in refused], ATTEMPT_FIELDS)


def note_given_up(given_up: Sequence[tuple[Call, CallRefusal]], campaign_of: dict[int, int]) -> None:
    """Write that calls failed for good, each with its event: only another replicate asks them again."""
    now = timezone.now()
    open_calls = _still_open([call for call, _ in given_up])
    given_up = [(call, refusal) for call, refusal in given_up if call.pk in open_calls]
    events = [
        Event(
            campaign_id=campaign_of[call.pk],
            kind="llm.call_failed",
            payload={"call": call.sha256, "template": call.template, "error": refusal.kind},
        )
        for call, refusal in given_up
    ]
    Event.objects.bulk_create(events, batch_size=BATCH)
    for (call, _), event in zip(given_up, events, strict=True):
        call.state, call.ended_at, call.holder, call.event = Call.State.FAILED, now, "", event
    _update(Call, [call for call, _ in given_up], ["state", "ended_at", "holder", "event"])


def _update(model: type[Call] | type[Attempt], rows: Sequence[Any], fields: list[str]) -> None:
    # An upsert: many times faster than the CASE expressions of bulk_update.
    if rows:
        model.objects.bulk_create(
            rows, batch_size=BATCH, update_conflicts=True, unique_fields=["pk"], update_fields=fields
        )
