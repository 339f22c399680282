"""Caches whose values are JSON: whoever can write the table or Redis can change a count, and run nothing."""

import json
import logging
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.redis import RedisCache
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils.timezone import now
from redis.exceptions import RedisError

from accounts.models import Cached
from web.write_lock import short_wait

logger = logging.getLogger(__name__)
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
AWAY_SECONDS = 5
"""After a failure Redis is not asked for so long: each try may cost a time-out."""
# A full cache drops what it likes. The table is large, so that nobody gets new tries by filling it.
TABLE_OPTIONS = {"MAX_ENTRIES": 100_000, "CULL_FREQUENCY": 10}


class JsonSerializer:
    """Values in Redis."""

    def dumps(self, value: Any) -> bytes | int:
        # Whole numbers stay bare, because Redis itself adds to them.
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, stored: bytes) -> Any:
        return _read(stored)


class TableCache(BaseCache):
    """Django's cache interface over the table of `Cached`."""

    def __init__(self, _location: str, params: dict[str, Any]) -> None:
        super().__init__(params | {"OPTIONS": TABLE_OPTIONS | params.get("OPTIONS", {})})

    def get_many(self, keys: Iterable[str], version: int | None = None) -> dict[str, Any]:
        names = {self.make_and_validate_key(key, version=version): key for key in keys}
        rows = Cached.objects.filter(pk__in=list(names), expires__gt=now()).values_list("pk", "value")
        values = {names[row]: _read(stored) for row, stored in rows}
        return {key: value for key, value in values.items() if value is not None}

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        return self.get_many([key], version).get(key, default)

    def set(
        self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        self._make_room()
        row = self._row(key, value, timeout, version)
        # One statement, so that processes that count the same name at once do not refuse each other.
        Cached.objects.bulk_create(
            [row], update_conflicts=True, unique_fields=["cache_key"], update_fields=["value", "expires"]
        )

    def add(
        self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        """Keep a value unless there is one; return whether it is kept."""
        row = self._row(key, value, timeout, version)
        # An ended value counts as none, and its row would stand in the way.
        Cached.objects.filter(pk=row.pk, expires__lte=now()).delete()
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            return False
        return True

    def touch(self, key: str, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        there = Cached.objects.filter(pk=self.make_and_validate_key(key, version=version), expires__gt=now())
        return bool(there.update(expires=self._end(timeout)))

    def delete(self, key: str, version: int | None = None) -> bool:
        found, _ = Cached.objects.filter(pk=self.make_and_validate_key(key, version=version)).delete()
        return bool(found)

    def clear(self) -> None:
        Cached.objects.all().delete()

    def _row(self, key: str, value: Any, timeout: float | None, version: int | None) -> Cached:
        name = self.make_and_validate_key(key, version=version)
        return Cached(cache_key=name, value=json.dumps(value), expires=self._end(timeout))

    def _end(self, timeout: float | None) -> datetime:
        stamp = self.get_backend_timeout(timeout)
        return NEVER if stamp is None else datetime.fromtimestamp(stamp, UTC)

    def _make_room(self) -> None:
        """Drop what has ended, and a part of the rest, where there is more than may be kept."""
        if Cached.objects.count() <= self._max_entries:
            return
        Cached.objects.filter(expires__lte=now()).delete()
        surplus = Cached.objects.order_by("expires")[: self._max_entries // self._cull_frequency]
        if Cached.objects.count() > self._max_entries:
            Cached.objects.filter(pk__in=list(surplus.values_list("pk", flat=True))).delete()


class RedisOrTableCache(BaseCache):
    """Values in Redis. While it does not answer, in the table: people sign in, and attempts are counted."""

    away_until = 0.0

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self.redis = RedisCache(server, params)
        self.table = TableCache("", params | {"OPTIONS": {}})


def _either(act: str) -> Callable[..., Any]:
    def either(cache: RedisOrTableCache, *args: Any, **options: Any) -> Any:
        if time.monotonic() >= RedisOrTableCache.away_until:
            try:
                return getattr(cache.redis, act)(*args, **options)
            except RedisError as error:
                RedisOrTableCache.away_until = time.monotonic() + AWAY_SECONDS
                logger.error("Redis does not answer, so the database counts attempts: %s.", type(error).__name__)
        return getattr(cache.table, act)(*args, **options)

    return either


for _act in ("add", "clear", "delete", "get", "get_many", "incr", "set", "touch"):
    setattr(RedisOrTableCache, _act, _either(_act))


def _read(stored: bytes | str) -> Any:
    try:
        return json.loads(stored)
    except ValueError:
        return None


KEPT_SECONDS, LOCK_PATIENCE_MS = 7 * 24 * 3600, 20


def kept(name: str) -> Any:
    """Return a count or figure of a campaign that any process has computed; None where there is none."""
    # Not in Redis: a restored database must not find what a later state of it had left there.
    return TableCache("", {}).get(name)


def keep(name: str, value: Any) -> None:
    """Keep a JSON value unless something is being written just now: the next process may compute it again."""
    # A transaction may be undone, and what it counted is no state of the campaign.
    if not connection.in_atomic_block:
        with suppress(OperationalError), short_wait(LOCK_PATIENCE_MS):
            TableCache("", {}).set(name, value, timeout=KEPT_SECONDS)


def seal(purpose: str, text: str) -> str:
    """Encrypt with the key in force. Each purpose has a key of its own."""
    return _locks(purpose).encrypt(text.encode()).decode()


def unseal(purpose: str, sealed: str) -> str:
    """Decrypt with the current key or an earlier one. Raises `InvalidToken`."""
    return _locks(purpose).decrypt(sealed.encode()).decode()


def _locks(purpose: str) -> MultiFernet:
    keys = [str(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    return MultiFernet([Fernet(urlsafe_b64encode(sha256(f"{purpose} {key}".encode()).digest())) for key in keys])
