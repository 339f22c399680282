"""The shared cache keeps JSON and reads nothing else: whoever can write it runs no code in Assay."""

import base64
import pickle
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.test import override_settings
from django.utils.timezone import now
from redis.exceptions import RedisError

from accounts.caching import RedisOrTableCache
from accounts.models import Cached
from config.settings import shared_cache
from loadtest.servers.services import Redis
from tests import needed

pytestmark = pytest.mark.django_db


class Marking:
    """A pickle of this makes a folder where it is read."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return Path.mkdir, (self.marker,)


@pytest.fixture(params=["table", "redis"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseCache]:
    if request.param == "table":
        with override_settings(CACHES=shared_cache("", "memory://")):
            yield caches["default"]
        return
    needed.program("redis-server")
    redis = Redis(tmp_path)
    redis.start()
    with override_settings(CACHES=shared_cache(redis.url, "memory://")):
        cache = caches["default"]
        assert isinstance(cache, RedisOrTableCache)
        _wait_for(cache)
        RedisOrTableCache.away_until = 0.0
        yield cache
    redis.stop()


def _wait_for(cache: RedisOrTableCache) -> None:
    for _ in range(100):
        with suppress(RedisError):
            cache.redis.get("anything")
            return
        time.sleep(0.05)


def plant(cache: BaseCache, key: str, value: bytes) -> None:
    made = cache.make_key(key)
    if isinstance(cache, RedisOrTableCache):
        cache.redis._cache.get_client(write=True).set(made, value)
    else:
        text = base64.b64encode(value).decode()
        Cached.objects.create(cache_key=made, value=text, expires=now() + timedelta(days=1))


def test_a_pickle_is_not_read(cache: BaseCache, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    plant(cache, "attempts", pickle.dumps(Marking(marker)))
    assert cache.get("attempts") is None
    assert not marker.exists()


def test_values_are_kept_as_django_keeps_them(cache: BaseCache) -> None:
    cache.set("times", [1.5, 2.5], 60)
    assert cache.get("times") == [1.5, 2.5]
    assert cache.get("nothing", "else") == "else"
    assert (cache.add("times", [3], 60), cache.add("lock", True, 60), cache.add("lock", True, 60)) == (
        False,
        True,
        False,
    )
    cache.set("count", 1, 60)
    assert (cache.incr("count"), cache.get("count")) == (2, 2)
    assert cache.get_many(["times", "count", "no"]) == {"times": [1.5, 2.5], "count": 2}
    assert (cache.touch("count", 90), cache.delete("count"), cache.delete("count")) == (True, True, False)
    cache.clear()
    assert cache.get("times") is None


@override_settings(CACHES=shared_cache("", "memory://"))
def test_a_value_of_the_table_ends() -> None:
    cache = caches["default"]
    with time_machine.travel(now(), tick=False) as clock:
        cache.set("lock", 1, 60)
        cache.set("kept", 1, None)
        clock.shift(timedelta(seconds=61))
        assert (cache.get("lock"), cache.get("kept")) == (None, 1)
        assert cache.add("lock", 2, 60)
        assert cache.get("lock") == 2


def test_a_full_table_drops_what_ended_first() -> None:
    options = shared_cache("", "memory://")["default"] | {"OPTIONS": {"MAX_ENTRIES": 4, "CULL_FREQUENCY": 2}}
    with override_settings(CACHES={"default": options}):
        cache = caches["default"]
        for number in range(8):
            cache.set(f"key-{number}", number, 60 + number)
        assert cache.get("key-7") == 7
        assert cache.get("key-0") is None
        assert Cached.objects.count() <= 5
