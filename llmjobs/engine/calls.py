"""The record of calls: found by their hash, written before they are sent, answered once.

A recorded call is replayed, also one that failed: only a call of another replicate is sent again. Such a replicate
takes the calls of each conversation that led to a usable reply from the replicate before, where they cost nothing.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max
from django.utils import timezone

from evaluation.models import Campaign, Event, Judge
from evaluation.rules.places import words_in
from jobs.models import WorkItem
from jobs.queue import NewItem
from llmjobs.client import CallRefusal, ChatRequest, Completion, Endpoint
from llmjobs.models import Attempt, Call, CallUse, Text
from llmjobs.steps.asking import RE_ASK, Ask, spans

CALLS_A_STATEMENT = 200
CONTROLS = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f]")
MOST_TOKENS = 2**31 - 1
TOKENS_PER_WORD = 4 / 3
# Until a template has been answered: a list of thirty nuggets, ten labels, one label.
REPLY_TOKENS = {
    "nuggetize": 450,
    "importance": 40,
    "assign": 60,
    "support": 8,
    "relevance": 8,
    "rubric": 90,
    "battle": 4,
}


@dataclass(frozen=True, slots=True)
class NewCall:
    """An ask addressed to an endpoint: all that makes two calls the same call."""

    ask: Ask
    endpoint: Endpoint
    model: str
    replicate: int

    @property
    def parameters(self) -> dict[str, Any]:
        form, temperature = self.ask.form, self.ask.temperature
        parameters: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        return parameters | dict(self.ask.parameters) | ({"response_format": form.response_format} if form else {})

    @property
    def request(self) -> ChatRequest:
        messages = tuple((message.role, message.content) for message in self.ask.messages)
        return ChatRequest(model=self.model, messages=messages, **{"temperature": None, **self.parameters})

    @property
    def prompt_tokens(self) -> float:
        """Estimate that is not rounded, because a forecast multiplies it."""
        return sum(words_in(message.content) for message in self.ask.messages) * TOKENS_PER_WORD

    @property
    def sha256(self) -> str:
        """Identity of the call: endpoint, model, parameters, messages and replicate."""
        parts = [self.endpoint.name, self.model, self.parameters, self.request.messages, self.replicate]
        return _hash(json.dumps(parts, ensure_ascii=False, sort_keys=True))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def find_calls(hashes: Iterable[str]) -> dict[str, Call]:
    wanted, calls = list(hashes), Call.objects.select_related("event")
    batches = (calls.filter(sha256__in=wanted[start:end]) for start, end in spans(len(wanted), CALLS_A_STATEMENT))
    return {call.sha256: call for batch in batches for call in batch}


def insert_calls(wanted: Sequence[tuple[str, NewCall]], holder: str) -> dict[str, Call]:
    """Write new calls with their texts; return all by hash, also those another worker wrote meanwhile."""
    texts = {_hash(message.content): message.content for _, call in wanted for message in call.ask.messages}
    Text.objects.bulk_create(
        # Sorted, as the calls below: two workers that insert the same rows would deadlock on PostgreSQL otherwise.
        [Text(sha256=sha256, content=texts[sha256]) for sha256 in sorted(texts)],
        batch_size=CALLS_A_STATEMENT,
        ignore_conflicts=True,
    )
    rows = [
        Call(
            sha256=sha256,
            base_url=call.endpoint.name,
            model=call.model,
            parameters=call.parameters,
            messages=[{"role": message.role, "sha256": _hash(message.content)} for message in call.ask.messages],
            template=call.ask.template,
            template_version=call.ask.version,
            template_sha256=call.ask.template_sha256,
            replicate=call.replicate,
            holder=holder,
        )
        for sha256, call in sorted(wanted, key=lambda pair: pair[0])
    ]
    Call.objects.bulk_create(rows, batch_size=CALLS_A_STATEMENT, ignore_conflicts=True)
    return find_calls(sha256 for sha256, _ in wanted)


def release(calls: Iterable[int], holder: str) -> None:
    # A call of nobody may be sent by any worker that needs it.
    Call.objects.filter(pk__in=list(calls), holder=holder, state=Call.State.SENT).update(holder="")


def note_sending(calls: Sequence[Call]) -> list[Attempt]:
    last = dict(Attempt.objects.filter(call__in=calls).values_list("call").annotate(n=Max("number")).order_by())
    now = timezone.now()
    rows = [Attempt(call=call, number=last.get(call.pk, 0) + 1, sent_at=now) for call in calls]
    return Attempt.objects.bulk_create(rows, batch_size=CALLS_A_STATEMENT)


def note_answers(answered: Sequence[tuple[Call, Attempt, Completion]], campaign_of: dict[int, int]) -> None:
    """Write replies, each with its event. A call that another attempt answered first keeps its reply."""
    now = timezone.now()
    for _, attempt, answer in answered:
        attempt.ended_at, attempt.status, attempt.latency_ms = now, 200, answer.latency_ms
    _update(Attempt, [attempt for _, attempt, _ in answered], ATTEMPT_FIELDS)
    open_calls = _still_open([call for call, _, _ in answered])
    first = [(call, answer) for call, _, answer in answered if call.pk in open_calls]
    events = [
        Event(
            campaign_id=campaign_of[call.pk],
            kind="llm.call",
            payload={"call": call.sha256, "template": call.template, "model": _fit(answer.model, 200)},
        )
        for call, answer in first
    ]
    Event.objects.bulk_create(events, batch_size=CALLS_A_STATEMENT)
    for (call, answer), event in zip(first, events, strict=True):
        call.state, call.reply, call.event, call.ended_at = Call.State.ANSWERED, answer.text, event, now
        call.model_answered, call.finish_reason = _fit(answer.model, 200), _fit(answer.finish_reason, 40)
        call.prompt_tokens = count_of(answer.prompt_tokens)
        call.completion_tokens = count_of(answer.completion_tokens)
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
    # Endpoints make these texts up: they may be too long, and hold NUL, which PostgreSQL does not store.
    return CONTROLS.sub("", text)[:longest]


def count_of(tokens: int | None) -> int | None:
    """Number of tokens as an endpoint reports it; None where the column cannot hold it."""
    return tokens if tokens is not None and 0 <= tokens <= MOST_TOKENS else None


ATTEMPT_FIELDS = ["ended_at", "status", "latency_ms", "error", "message"]
END_FIELDS = ["state", "ended_at", "holder", "event"]
ANSWER_FIELDS = [
    *(*END_FIELDS, "reply", "model_answered", "finish_reason"),
    "prompt_tokens",
    "completion_tokens",
    "latency_ms",
]


def note_refusals(refused: Sequence[tuple[Attempt, CallRefusal]]) -> None:
    now = timezone.now()
    for attempt, refusal in refused:
        attempt.ended_at, attempt.error, attempt.status = now, refusal.kind, refusal.status
        attempt.message, attempt.latency_ms = CONTROLS.sub("", refusal.message), refusal.latency_ms
    _update(Attempt, [attempt for attempt, _ in refused], ATTEMPT_FIELDS)


def note_given_up(given_up: Sequence[tuple[Call, CallRefusal]], campaign_of: dict[int, int]) -> None:
    """Write that calls failed for good, each with its event: only another replicate repeats them."""
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
    Event.objects.bulk_create(events, batch_size=CALLS_A_STATEMENT)
    for (call, _), event in zip(given_up, events, strict=True):
        call.state, call.ended_at, call.holder, call.event = Call.State.FAILED, now, "", event
    _update(Call, [call for call, _ in given_up], END_FIELDS)


def _update(model: type[Call] | type[Attempt], rows: Sequence[Any], fields: list[str]) -> None:
    # An upsert: many times faster than the CASE expressions of bulk_update.
    if rows:
        model.objects.bulk_create(
            rows, batch_size=CALLS_A_STATEMENT, update_conflicts=True, unique_fields=["pk"], update_fields=fields
        )


@dataclass(slots=True)
class Tries:
    """Tries of a pair by earlier items: their keys, the end of the newest, and its replicate."""

    items: list[int] = field(default_factory=list)
    failed: bool = False
    replicate: int = 0


def call_for(item: WorkItem, ask: Ask, endpoint: Endpoint, model: str, kept: Collection[str]) -> NewCall:
    """Call for an item's ask: the kept call of an earlier replicate, else a call of its own replicate."""
    own = int(item.payload.get("replicate", 0))
    for replicate in range(own if kept else 0):
        earlier = NewCall(ask, endpoint, model, replicate)
        if earlier.sha256 in kept:
            return earlier
    return NewCall(ask, endpoint, model, own)


def kept_calls(items: Sequence[WorkItem]) -> list[frozenset[str]]:
    """Hashes, by item, of the calls that earlier attempts answered usably."""
    before = [_before(item) for item in items]
    uses: dict[int, list[CallUse]] = {pk: [] for pks in before for pk in pks}
    if uses:
        rows = CallUse.objects.filter(item__in=uses).select_related("call")
        for use in rows.defer("call__reply", "call__messages").order_by("item", "number"):
            uses[use.item_id].append(use)
    return [frozenset(sha256 for pk in pks for sha256 in _usable(uses[pk])) for pks in before]


def _before(item: WorkItem) -> list[int]:
    if not item.payload.get("replicate"):
        return []
    return [*([item.pk] if item.pk else []), *item.payload.get("after", [])]


def _usable(uses: Iterable[CallUse]) -> set[str]:
    # The wrong replies before a usable reply belong to it: replaying the conversation needs them all.
    usable: set[str] = set()
    conversation: list[str] = []
    for use in uses:
        if RE_ASK not in use.part:
            conversation = []
        conversation.append(use.call.sha256)
        if not any(note.startswith(("wrong", "failed")) for note in use.notes):
            usable.update(conversation)
    return usable


def with_replicates(items: Sequence[NewItem], campaign: Campaign, judge: Judge) -> tuple[list[NewItem], int]:
    """Return items, those that failed before as the next replicate, and the number of these.

    For kinds that leave no label when they fail: a topic without a list, a pair without a grade.
    """
    tried: dict[tuple[str, str], Tries] = {}
    ended = WorkItem.objects.filter(
        job__llm__campaign=campaign,
        job__llm__judge=judge.pk,
        state__in=[WorkItem.State.DONE, WorkItem.State.FAILED],
        kind__in={item.kind for item in items},
    ).order_by("pk")
    for kind, key, pk, state, replicate in ended.values_list("kind", "key", "pk", "state", "payload__replicate"):
        tries = tried.setdefault((kind, key), Tries())
        tries.items.append(pk)
        tries.failed, tries.replicate = state == WorkItem.State.FAILED, replicate or 0
    found, retried = [], 0
    for item in items:
        tries = tried.get((item.kind, item.key), Tries())
        replicate = tries.replicate + tries.failed
        more = {"replicate": replicate, "after": tries.items} if replicate else {}
        found.append(NewItem(item.key, item.kind, item.payload | more))
        retried += tries.failed
    return found, retried


def next_replicates(events: Collection[int]) -> dict[int, int]:
    """Replicate after that of each event's call; events without a call are left out."""
    wanted, found = list(events), dict[int, int]()
    for start, end in spans(len(wanted), CALLS_A_STATEMENT):
        calls = Call.objects.filter(event__in=wanted[start:end])
        found |= {event: replicate + 1 for event, replicate in calls.values_list("event", "replicate") if event}
    return found
