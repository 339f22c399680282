"""Where the use of endpoints is kept, for all workers on all hosts: in the broker's Redis, else in the database.

Either is asked once in a look of the engine, and has the clock by which the minutes are counted: those of the hosts may
differ. A Redis that was emptied costs nothing but the pace of a moment: what is under way is said anew each time.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Protocol, TypeVar, cast

from django.conf import settings
from django.db import connection, transaction
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.retry import Retry

from llmjobs.models import EndpointUse
from llmjobs.pacing import LimitState

T = TypeVar("T")
Act = Callable[[LimitState, float], T]
"""Changes a use at a time of the shared clock, and returns what came of it. May be done again, on another use."""

KEY = "assay:llm:use:"
KEPT_FOR = 3600  # seconds; a use that nobody changed for so long holds nobody back
PATIENCE = 1.0  # seconds
REDIS_SCHEMES = ("redis://", "rediss://")


class AwayError(Exception):
    """Where the use is kept cannot be asked just now."""


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
