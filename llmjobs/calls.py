"""The record of calls: found by what they ask, written before they are sent, answered once."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from evaluation.models import Event
from llmjobs.client import Answered, Endpoint, Refusal, Request
from llmjobs.models import Attempt, Call, Text
from llmjobs.steps.asking import Ask

BATCH = 200
TEMPERATURE = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """One Ask addressed to an endpoint: what makes two calls the same call."""

    ask: Ask
    endpoint: Endpoint
    model: str
    replicate: int

    @property
    def parameters(self) -> dict[str, Any]:
        """What is sent beside the messages."""
        return {"temperature": TEMPERATURE}

    @property
    def request(self) -> Request:
        """What the client sends."""
        messages = tuple((message.role, message.content) for message in self.ask.messages)
        return Request(model=self.model, messages=messages, temperature=TEMPERATURE)

    @property
    def sha256(self) -> str:
        """The call's identity: endpoint, model, parameters, messages and replicate."""
        parts = [self.endpoint.name, self.model, self.parameters, self.request.messages, self.replicate]
        return _hash(json.dumps(parts, ensure_ascii=False, sort_keys=True))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def find_calls(hashes: Iterable[str]) -> dict[str, Call]:
    """Return the calls that exist, by hash."""
    wanted, found = list(hashes), {}
    for start in range(0, len(wanted), BATCH):
        part = wanted[start : start + BATCH]
        for call in Call.objects.filter(sha256__in=part).select_related("event"):
            found[call.sha256] = call
    return found


def insert_calls(wanted: Sequence[tuple[str, Wanted]], holder: str) -> dict[str, Call]:
    """Write new calls with their texts; return them by hash. One that another worker wrote meanwhile is returned."""
    texts = {_hash(message.content): message.content for _, one in wanted for message in one.ask.messages}
    Text.objects.bulk_create(
        [Text(sha256=sha256, content=content) for sha256, content in texts.items()],
        batch_size=BATCH,
        ignore_conflicts=True,
    )
    rows = [_row(sha256, one, holder) for sha256, one in wanted]
    Call.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)
    return find_calls(sha256 for sha256, _ in wanted)


def _row(sha256: str, wanted: Wanted, holder: str) -> Call:
    ask = wanted.ask
    return Call(
        sha256=sha256,
        base_url=wanted.endpoint.name,
        model=wanted.model,
        parameters=wanted.parameters,
        messages=[{"role": one.role, "sha256": _hash(one.content)} for one in ask.messages],
        template=ask.template,
        template_version=ask.version,
        template_sha256=ask.template_sha256,
        replicate=wanted.replicate,
        holder=holder,
    )


def note_sending(calls: Sequence[Call], numbers: dict[int, int]) -> list[Attempt]:
    """Write one attempt per call, before it is sent; `numbers` counts the attempts by call."""
    now = timezone.now()
    rows = [Attempt(call=call, number=numbers[call.pk], sent_at=now) for call in calls]
    return Attempt.objects.bulk_create(rows, batch_size=BATCH)


def note_answers(answered: Sequence[tuple[Call, Attempt, Answered]], campaign_of: dict[int, int]) -> None:
    """Write replies, each with its event."""
    events = [_event(call, answer, campaign_of[call.pk]) for call, _, answer in answered]
    Event.objects.bulk_create(events, batch_size=BATCH)
    now = timezone.now()
    for (call, attempt, answer), event in zip(answered, events, strict=True):
        call.state, call.reply, call.event, call.ended_at = Call.State.ANSWERED, answer.text, event, now
        call.model_answered, call.finish_reason = answer.model, answer.finish_reason
        call.prompt_tokens, call.completion_tokens = answer.prompt_tokens, answer.completion_tokens
        call.latency_ms, call.holder = answer.latency_ms, ""
        attempt.ended_at, attempt.status, attempt.latency_ms = now, 200, answer.latency_ms
    _update(Call, [call for call, _, _ in answered], ANSWER_FIELDS)
    _update(Attempt, [attempt for _, attempt, _ in answered], ATTEMPT_FIELDS)


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


def _event(call: Call, answer: Answered, campaign: int) -> Event:
    payload = {"call": call.sha256, "template": call.template, "model": answer.model}
    return Event(campaign_id=campaign, kind="llm.call", payload=payload)


def note_refusals(refused: Sequence[tuple[Attempt, Refusal]]) -> None:
    """Write what went wrong with attempts; their calls stay open."""
    now = timezone.now()
    for attempt, refusal in refused:
        attempt.ended_at, attempt.error, attempt.status = now, refusal.kind, refusal.status
        attempt.message, attempt.latency_ms = refusal.message, refusal.latency_ms
    _update(Attempt, [attempt for attempt, _ in refused], ATTEMPT_FIELDS)


def note_given_up(given_up: Sequence[tuple[Call, Refusal]], campaign_of: dict[int, int]) -> None:
    """Write that calls failed for good, each with its event: only another replicate asks them again."""
    now = timezone.now()
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
    """Write rows that exist, by an upsert: many times faster than bulk_update's CASE expressions."""
    if rows:
        model.objects.bulk_create(
            rows, batch_size=BATCH, update_conflicts=True, unique_fields=["pk"], update_fields=fields
        )
