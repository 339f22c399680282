"""Redis is away, or says nothing: people sign in, wrong passwords are counted, the API answers."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import caches
from django.test import Client, override_settings
from django.utils.timezone import now

from accounts.caching import RedisOrTableCache
from accounts.models import Cached
from accounts.tokens import Scope, make_token
from config.settings import shared_cache
from loadtest.servers.services import Redis
from tests import needed
from tests.worlds.cast import make_user

pytestmark = pytest.mark.django_db

LOGIN = "/accounts/login/"


@pytest.fixture(params=["refuses", "silent"])
def _away(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(RedisOrTableCache, "away_until", 0.0)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if request.param == "silent":
            server.listen()
        url = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        with override_settings(CACHES=shared_cache(url, "memory://")):
            yield


@pytest.mark.usefixtures("_away")
def test_people_sign_in_and_wrong_passwords_lock_the_name() -> None:
    make_user("ann")
    for _ in range(5):
        assert Client().post(LOGIN, {"login": "ann", "password": "wrong"}).status_code == 200
    locked = Client().post(LOGIN, {"login": "ann", "password": "ann"})
    assert (locked.status_code, bool(locked["Retry-After"])) == (429, True)
    make_user("ben")
    assert Client().post(LOGIN, {"login": "ben", "password": "ben"}).status_code == 302
    assert Client().post("/accounts/password/reset/", {"email": "x@example.org"}).status_code == 302
    assert Client().get("/invitation/never-made/").status_code == 410


@pytest.mark.usefixtures("_away")
def test_the_api_answers_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    ann = make_user("ann")
    _, raw = make_token(user=ann, name="notebook", scopes=[Scope.READ], expires_at=now() + timedelta(days=1))
    bearer = {"Authorization": f"Bearer {raw}"}
    monkeypatch.setattr("api.access.TokenThrottle.THROTTLE_RATES", {"token": "3/minute", "user": "600/minute"})
    answers = [Client().get("/api/v1/campaigns/", headers=bearer).status_code for _ in range(4)]
    assert answers == [200, 200, 200, 429]
    assert Client().get("/api/v1/campaigns/", headers={"Authorization": "Bearer no"}).status_code == 401
    assert Cached.objects.exists()


def test_counts_go_to_redis_again_once_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed.program("redis-server")
    redis = Redis(tmp_path)
    monkeypatch.setattr("accounts.caching.AWAY_SECONDS", 0)
    monkeypatch.setattr(RedisOrTableCache, "away_until", 0.0)
    with override_settings(CACHES=shared_cache(redis.url, "memory://")):
        cache = caches["default"]
        cache.set("count", 1, 60)
        assert Cached.objects.count() == 1
        redis.start()
        try:
            while cache.get("count") == 1:
                pass  # until it takes connections, the table answers
            cache.set("count", 5, 60)
            assert cache.incr("count") == 6
            assert Cached.objects.count() == 1
        finally:
            redis.stop()
        assert cache.get("count") == 1
