"""Limits of endpoints: by the environment for the default one, by an administrator for others."""

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Protocol, TypeVar, cast

from django.conf import settings
from django.db import connection, transaction
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.retry import Retry

from llmjobs.client import Endpoint
from llmjobs.endpoints import default_endpoint
from llmjobs.models import EndpointLimits, EndpointUse

WINDOW = 60.0
# Seconds within which a request that may go reaches its endpoint: written to the database first, then sent.
SLACK = 1.0
# Seconds for which requests may go ahead of their pace: longer than from one look of a worker to its next.
BURST = 0.5
PERIOD = WINDOW + SLACK + BURST
# After so long without a word from a worker its requests are not under way any more.
GONE_AFTER = 30.0
# What is ahead of the clock by more was written before the clock was set back.
LONGEST_AHEAD = 5 * PERIOD


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that an endpoint takes: requests a minute, tokens a minute, requests at once; None is no limit."""

    requests: int | None = None
    tokens: int | None = None
    at_once: int | None = None

    def __bool__(self) -> bool:
        return any(most is not None for most in (self.requests, self.tokens, self.at_once))

    def __str__(self) -> str:
        limits = [
            (self.requests, "requests a minute"),
            (self.tokens, "tokens a minute"),
            (self.at_once, "requests at once"),
        ]
        return ", ".join(f"{most:,} {what}" for most, what in limits if most is not None) or "no limit"

    def seconds_for(self, requests: int, tokens: int) -> float:
        """Least seconds for so many requests and tokens."""
        return PERIOD * max(
            requests / self.requests if self.requests else 0, tokens / self.tokens if self.tokens else 0
        )


@dataclass(slots=True)
class LimitState:
    """Use of an endpoint by all workers. Times are seconds of one clock that they share.

    `requests_until`, `tokens_until`: until when what went so far takes up the limit. `under_way`: of each worker, how
    many requests it waits for, and when it said so.
    """

    requests_until: float = 0.0
    tokens_until: float = 0.0
    under_way: dict[str, tuple[int, float]] = field(default_factory=dict)

    def book_tokens(self, limits: Limits, tokens: int) -> None:
        """Book tokens beyond the estimate; a negative number is below it."""
        if limits.tokens:
            self.tokens_until += tokens * PERIOD / limits.tokens

    def admit(
        self, limits: Limits, worker: str, under_way: int, costs: Sequence[int], now: float
    ) -> tuple[int, float]:
        """Return the number of requests that may go, in their order, and the seconds until the next one may.

        `costs` are their estimated tokens, `under_way` is how many the worker waits for already. The seconds are 0
        where all may go, and where the next one waits for another's end.
        """
        room = self._room(limits, worker, under_way, now)
        self.requests_until = min(self.requests_until, now + LONGEST_AHEAD)
        self.tokens_until = min(self.tokens_until, now + LONGEST_AHEAD)
        gone, wait = 0, 0.0
        for cost in costs[:room]:
            wait = max(0.0, self.requests_until - BURST - now, self.tokens_until - BURST - now)
            if wait:
                break
            self._take_up(limits, cost, now)
            gone += 1
        if limits.at_once is not None:
            self.under_way[worker] = (under_way + gone, now)
        return gone, wait

    def _room(self, limits: Limits, worker: str, under_way: int, now: float) -> int | None:
        """Return the number of further requests that may be under way; None for any. Dead workers are forgotten."""
        self.under_way = {
            name: (number, reported_at)
            for name, (number, reported_at) in self.under_way.items()
            if number and now - reported_at < GONE_AFTER and name != worker
        }
        if limits.at_once is None:
            return None
        return max(0, limits.at_once - under_way - sum(number for number, _ in self.under_way.values()))

    def _take_up(self, limits: Limits, cost: int, now: float) -> None:
        if limits.requests:
            self.requests_until = max(self.requests_until, now) + PERIOD / limits.requests
        if limits.tokens:
            # As many of such requests a minute as are whole; one that alone is over the limit goes alone.
            self.tokens_until = max(self.tokens_until, now) + PERIOD / max(1, limits.tokens // max(1, cost))


def limits_of(names: Collection[str]) -> dict[str, Limits]:
    """Limits by endpoint name; endpoints without any are left out."""
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
    EndpointLimits.objects.update_or_create(
        address=address,
        defaults={
            "requests_per_minute": limits.requests,
            "tokens_per_minute": limits.tokens,
            "most_at_once": limits.at_once,
        },
    )
    return address


T = TypeVar("T")
Act = Callable[[LimitState, float], T]
"""Changes a use at a time of the shared clock, and returns what came of it. May be done again, on another use."""

KEY = "assay:llm:use:"
KEPT_FOR = 3600  # seconds; a use that nobody changed for so long holds nobody back
PATIENCE = 1.0  # seconds
REDIS_SCHEMES = ("redis://", "rediss://")


class AwayError(Exception):
    """Store of the use that does not answer just now."""


class Uses(Protocol):
    """Keeps the use of endpoints by their addresses."""

    def visit(self, address: str, act: Act[T]) -> T:
        """Read, change and write the use of an endpoint, alone. Raises `AwayError`."""


class DatabaseUses:
    """Rows, each locked while it is changed."""

    def visit(self, address: str, act: Act[T]) -> T:
        # A second visitor waits for the first, or starts again.
        with transaction.atomic():
            row = self._locked(address)
            use = _read(row.state)
            came_of_it = act(use, _database_now())
            if use != _read(row.state):
                EndpointUse.objects.filter(pk=row.pk).update(state=asdict(use))
        return came_of_it

    def _locked(self, address: str) -> EndpointUse:
        locked = EndpointUse.objects.select_for_update().filter(address=address)
        row = locked.first()
        if row is None:
            EndpointUse.objects.bulk_create([EndpointUse(address=address)], ignore_conflicts=True)
            row = locked.get()
        return row


class RedisUses:
    """Keys, each watched while it is changed."""

    def __init__(self, url: str) -> None:
        # Tried once more, at once: a connection may have been cut while nobody used it. The engine tries again later.
        once_more = Retry(NoBackoff(), 1)
        self._redis = Redis.from_url(
            url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=once_more
        )

    def visit(self, address: str, act: Act[T]) -> T:
        # A second visitor waits for the first, or starts again.
        key = KEY + address

        def change(pipe: Pipeline) -> T:
            found = cast(bytes | None, pipe.get(key))
            seconds, micros = pipe.time()
            use = _read(json.loads(found) if found else {})
            came_of_it = act(use, seconds + micros / 1e6)
            pipe.multi()
            pipe.set(key, json.dumps(asdict(use)), ex=KEPT_FOR)
            return came_of_it

        try:
            return cast(T, self._redis.transaction(cast(Any, change), key, value_from_callable=True))
        except RedisError as error:
            raise AwayError(type(error).__name__) from error


def shared_uses() -> Uses:
    return _uses_by(settings.CELERY_BROKER_URL)


@lru_cache(maxsize=4)
def _uses_by(broker: str) -> Uses:
    return RedisUses(broker) if broker.startswith(REDIS_SCHEMES) else DatabaseUses()


def _read(state: dict[str, Any]) -> LimitState:
    use = LimitState(state.get("requests_until", 0.0), state.get("tokens_until", 0.0))
    use.under_way = {
        name: (number, reported_at) for name, (number, reported_at) in state.get("under_way", {}).items()
    }
    return use


def _database_now() -> float:
    # The hosts' clocks may differ; a SQLite file has one host only.
    if connection.vendor != "postgresql":
        return time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        (now,) = cursor.fetchone()
    return float(now)
