"""A lock holds for every process of the server: attempts are counted where all of them see it."""

import http.client
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.conf import settings

from loadtest.servers.services import Redis
from loadtest.servers.web import WebProcess, running_web
from tests import needed
from tests.worlds.installation import new_database

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("web")]

HOST = {"Host": "localhost"}
"""As behind a proxy: both are asked for by one name."""

Own = dict[str, str]
Cache = Callable[[Path, pytest.FixtureRequest], Own]


def in_database(folder: Path, request: pytest.FixtureRequest) -> Own:
    return {"REDIS_URL": "", "CELERY_BROKER_URL": "memory://"}


def in_redis(folder: Path, request: pytest.FixtureRequest) -> Own:
    needed.program("redis-server")
    redis = Redis(folder)
    redis.start()
    request.addfinalizer(redis.stop)
    return {"REDIS_URL": redis.url}


def attempt(web: WebProcess) -> tuple[int, str]:
    """Try a wrong password in a browser without cookies; return the status and what Retry-After says."""
    connection = http.client.HTTPConnection(web.address, timeout=30)
    connection.request("GET", "/accounts/login/", headers=HOST)
    page = connection.getresponse()
    token = page.headers["Set-Cookie"].split("csrftoken=")[1].split(";")[0]
    page.read()
    body = urlencode({"login": "ann", "password": "wrong", "csrfmiddlewaretoken": token})
    kind = "application/x-www-form-urlencoded"
    headers = {"Cookie": f"csrftoken={token}", "Content-Type": kind, **HOST}
    connection.request("POST", "/accounts/login/", body, headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers.get("Retry-After", "")


@pytest.mark.parametrize("cache", [in_database, in_redis], ids=["database", "redis"])
def test_five_attempts_over_two_processes_and_no_more(
    tmp_path: Path, cache: Cache, request: pytest.FixtureRequest, django_db_setup: None
) -> None:
    own = {"DATABASE_URL": new_database(tmp_path / "lock.sqlite3"), "WEB_WORKERS": "1"}
    own |= {"DJANGO_SETTINGS_MODULE": "loadtest.servers.plain_settings", **cache(tmp_path, request)}
    with running_web(tmp_path / "one.log", own=own) as first, running_web(tmp_path / "two.log", own=own) as second:
        answers = [attempt(web) for web in (first, second, first, second, first, second, first)]
    assert [status for status, _ in answers] == [200] * 5 + [429] * 2
    assert answers[-1][1] == str(settings.LOGIN_LOCK_SECONDS)
