"""Limits of endpoints, kept by all workers together: decision 19 has the arithmetic.

The default endpoint's limits are from the environment, those of others from an administrator.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from llmjobs.client import CallRefusal, Completion, Endpoint, default_endpoint
from llmjobs.engine.calls import REPLY_TOKENS
from llmjobs.engine.send import Sending
from llmjobs.models import EndpointLimits, EndpointUse

WINDOW = 60.0
# Seconds within which a request that may go reaches its endpoint: written to the database first, then sent.
SLACK = 1.0
# Seconds for which requests may go ahead of their pace: longer than from one look of a worker to its next.
BURST = 0.5
PERIOD = WINDOW + SLACK + BURST
# After so long without a word from a worker its requests are not under way any more.
GONE_AFTER = 30.0
# A moment ahead of the clock by more was written before the clock was set back.
LONGEST_AHEAD = 5 * PERIOD
# Seconds until a limit is consulted again. An admission reaches ahead by more than the first.
SOONEST, LATEST = 0.1, 1.0
# Seconds for which a job shows that it is held back: otherwise the reason would change with each request.
HELD_FOR = 5.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that an endpoint takes: requests a minute, tokens a minute, requests at once; None is no limit."""

    requests: int | None = None
    tokens: int | None = None
    at_once: int | None = None

    def __bool__(self) -> bool:
        return any(most is not None for most in astuple(self))

    def __str__(self) -> str:
        nouns = ("requests a minute", "tokens a minute", "requests at once")
        limits = zip(astuple(self), nouns, strict=True)
        return ", ".join(f"{most:,} {noun}" for most, noun in limits if most is not None) or "no limit"

    def seconds_for(self, requests: int, tokens: int) -> float:
        return PERIOD * max(
            requests / self.requests if self.requests else 0, tokens / self.tokens if self.tokens else 0
        )


@dataclass(frozen=True, slots=True)
class Visit:
    """One worker's question to an endpoint's limits, in one look.

    `under_way`: requests that it waits for. `costs`: estimated tokens of the calls that it would send, in their order.
    `beyond`: tokens of replies beyond their estimates; a negative number is below them.
    """

    worker: str
    limits: Limits
    under_way: int = 0
    costs: Sequence[int] = ()
    beyond: int = 0


@dataclass(slots=True)
class LimitState:
    """Use of an endpoint by all workers. Times are seconds of one clock that they share.

    `requests_until`, `tokens_until`: the moments until which the requests so far take up the limit. `under_way`: for
    each worker the number of requests it waits for, and the moment of its report.
    """

    requests_until: float = 0.0
    tokens_until: float = 0.0
    under_way: dict[str, tuple[int, float]] = field(default_factory=dict)

    @classmethod
    def stored(cls, state: Mapping[str, Any]) -> "LimitState":
        # JSON has no tuples: without this a state would never equal the stored state.
        under_way = {name: (number, at) for name, (number, at) in state.get("under_way", {}).items()}
        return cls(state.get("requests_until", 0.0), state.get("tokens_until", 0.0), under_way)

    def admit(self, visit: Visit, now: float) -> tuple[int, float]:
        """Return the number of calls that may go, and the seconds until the next may.

        The seconds are 0 where all may go, and where the next call waits for another's end.
        """
        limits = visit.limits
        if limits.tokens:
            self.tokens_until += visit.beyond * PERIOD / limits.tokens
        room = self._room(visit, now)
        self.requests_until = min(self.requests_until, now + LONGEST_AHEAD)
        self.tokens_until = min(self.tokens_until, now + LONGEST_AHEAD)
        admitted, wait = 0, 0.0
        for cost in visit.costs[:room]:
            wait = max(0.0, self.requests_until - BURST - now, self.tokens_until - BURST - now)
            if wait:
                break
            if limits.requests:
                self.requests_until = max(self.requests_until, now) + PERIOD / limits.requests
            if limits.tokens:
                # As many of such requests a minute as are whole; a request that alone is over the limit goes alone.
                self.tokens_until = max(self.tokens_until, now) + PERIOD / max(1, limits.tokens // max(1, cost))
            admitted += 1
        if limits.at_once is not None:
            self.under_way[visit.worker] = (visit.under_way + admitted, now)
        return admitted, wait

    def _room(self, visit: Visit, now: float) -> int | None:
        """Number of further requests that may be under way; None for any. Dead workers are forgotten."""
        self.under_way = {
            name: (number, reported_at)
            for name, (number, reported_at) in self.under_way.items()
            if number and now - reported_at < GONE_AFTER and name != visit.worker
        }
        if visit.limits.at_once is None:
            return None
        others = sum(number for number, _ in self.under_way.values())
        return max(0, visit.limits.at_once - visit.under_way - others)


def limits_of(names: Collection[str]) -> dict[str, Limits]:
    # The environment's own endpoint is limited by its settings, whatever a row says.
    rows = EndpointLimits.objects.filter(address__in=names)
    found = {row.address: Limits(row.requests_per_minute, row.tokens_per_minute, row.most_at_once) for row in rows}
    own = Limits(settings.LLM_REQUESTS_PER_MINUTE, settings.LLM_TOKENS_PER_MINUTE, settings.LLM_MOST_AT_ONCE)
    if own and (default := default_endpoint().name) in names:
        found[default] = own
    return {name: limits for name, limits in found.items() if limits}


def set_limits(base_url: str, limits: Limits) -> str:
    """Write the limits of an endpoint, and return its address as calls have it. Raises `Refused` for no address."""
    address = Endpoint(base_url=base_url).name
    if not limits:
        EndpointLimits.objects.filter(address=address).delete()
        return address
    columns = {
        "requests_per_minute": limits.requests,
        "tokens_per_minute": limits.tokens,
        "most_at_once": limits.at_once,
    }
    EndpointLimits.objects.update_or_create(address=address, defaults=columns)
    return address


def consult(address: str, visit: Visit) -> tuple[int, float]:
    """Admit the calls of a visit. The row is locked: visits of several workers come one after the other."""
    with transaction.atomic():
        locked = EndpointUse.objects.select_for_update().filter(address=address)
        row = locked.first()
        if row is None:
            # Another worker may insert the same row in the same moment.
            EndpointUse.objects.bulk_create([EndpointUse(address=address)], ignore_conflicts=True)
            row = locked.get()
        state = LimitState.stored(row.state)
        answer = state.admit(visit, _database_now())
        if state != LimitState.stored(row.state):
            EndpointUse.objects.filter(pk=row.pk).update(state=asdict(state))
    return answer


def _database_now() -> float:
    # The hosts' clocks may differ; a SQLite file has one host only.
    if connection.vendor != "postgresql":
        return time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        (now,) = cursor.fetchone()
    return float(now)


@dataclass(slots=True)
class LimitView:
    """One worker's view of one endpoint's limits. Times are of the worker's own clock.

    `beyond`: tokens of replies beyond their estimates, not yet booked. `reported`: requests under way as other workers
    know them. `held_at`: the last moment in which calls were held back.
    """

    beyond: int = 0
    reported: int = 0
    reported_at: float = 0.0
    retry_at: float = 0.0
    held_at: float = float("-inf")


class Limiter:
    """Admission of one worker's calls. An endpoint without limits costs nothing."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self.limits: dict[str, Limits] = {}
        self._views: dict[str, LimitView] = defaultdict(LimitView)
        self._reserved: dict[int, int] = {}

    def know(self, endpoints: Iterable[Endpoint]) -> None:
        self.limits = limits_of({endpoint.name for endpoint in endpoints})

    def waiting(self) -> set[str]:
        # Before that time, the limit would give the same answer.
        now = time.monotonic()
        return {name for name in self.limits if self._views[name].retry_at > now}

    def admit(self, sendings: Sequence[Sending], under_way: Mapping[str, int]) -> list[Sending]:
        """Calls that may go now, the first ones of each limited endpoint. `under_way`: calls by endpoint."""
        limited: dict[str, list[Sending]] = defaultdict(list)
        admitted = list[Sending]()
        for sending in sendings:
            name = sending.wanted.endpoint.name
            (limited[name] if name in self.limits else admitted).append(sending)
        # Sorted in every worker: two that lock the rows of two endpoints must not deadlock.
        for name, due in sorted(limited.items(), key=lambda item: item[0]):
            costs = [_tokens(sending) for sending in due]
            number, wait = self._visit(name, under_way.get(name, 0), costs)
            if number < len(due):
                view = self._views[name]
                view.held_at = now = time.monotonic()
                # Another request may end before the next look.
                view.retry_at = now + (min(max(wait, SOONEST), LATEST) if wait else 0.0)
            self._reserved |= {sending.call.pk: cost for sending, cost in zip(due[:number], costs, strict=False)}
            admitted += due[:number]
        return admitted

    def book_tokens(self, sending: Sending, reply: Completion | CallRefusal) -> None:
        # A refused call reports none, so its estimate stays booked.
        expected = self._reserved.pop(sending.call.pk, None)
        if expected is None or isinstance(reply, CallRefusal) or reply.prompt_tokens is None:
            return
        cost = reply.prompt_tokens + (reply.completion_tokens or 0)
        self._views[sending.wanted.endpoint.name].beyond += cost - expected

    def keep_up(self, under_way: Mapping[str, int]) -> None:
        """Report fewer calls under way at once, and the same number from time to time."""
        # A number that is too old counts as that of a dead worker.
        for name, limits in self.limits.items():
            view, now = self._views[name], under_way.get(name, 0)
            old = now and time.monotonic() - view.reported_at > GONE_AFTER / 4
            if limits.at_once is not None and (now < view.reported or old):
                self._visit(name, now, [])

    def close(self) -> None:
        # Other workers would wait for the calls of this worker until they are too old.
        for name in self.limits:
            if self._views[name].beyond or self._views[name].reported:
                self._visit(name, 0, [])

    def why_waiting(self, name: str) -> str:
        view = self._views[name]
        if time.monotonic() - view.held_at > HELD_FOR or name not in self.limits:
            return ""
        return f"Held back by the limit of {name}: {self.limits[name]}, for all workers."

    def _visit(self, name: str, under_way: int, costs: Sequence[int]) -> tuple[int, float]:
        view = self._views[name]
        number, wait = consult(name, Visit(self.worker, self.limits[name], under_way, costs, view.beyond))
        view.beyond = 0
        view.reported, view.reported_at = under_way + number, time.monotonic()
        return number, wait


def _tokens(sending: Sending) -> int:
    """Estimated tokens of a call and its reply."""
    return round(sending.wanted.prompt_tokens + REPLY_TOKENS.get(sending.wanted.ask.task, 0))
