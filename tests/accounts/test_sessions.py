"""How long a session lasts, what ends it, and that a lock is kept over processes."""

from datetime import timedelta

import pytest
import time_machine
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from accounts.closing import end_sessions
from tests.accounts.conftest import sign_in
from tests.worlds.cast import make_user

pytestmark = pytest.mark.django_db

DESK = "/desk/"


def is_in(client: Client) -> bool:
    return client.get(DESK).status_code == 200


def test_a_session_ends_after_hours_without_a_request(settings: Settings) -> None:
    make_user("ann")
    with time_machine.travel(now(), tick=False) as clock:
        client = sign_in("ann")
        clock.shift(timedelta(seconds=settings.SESSION_COOKIE_AGE - 60))
        assert is_in(client)
        clock.shift(timedelta(seconds=settings.SESSION_COOKIE_AGE - 60))
        assert is_in(client)  # each request moved the end
        clock.shift(timedelta(seconds=settings.SESSION_COOKIE_AGE + 60))
        assert not is_in(client)


@pytest.mark.slow
def test_a_session_in_use_ends_at_last(settings: Settings) -> None:
    make_user("ann")
    with time_machine.travel(now(), tick=False) as clock:
        client = sign_in("ann")
        for _ in range(settings.SESSION_LONGEST // 36_000):
            clock.shift(timedelta(hours=10))
            assert is_in(client)
        clock.shift(timedelta(hours=10))
        assert not is_in(client)


def test_a_session_is_written_seldom(django_assert_num_queries: object) -> None:
    make_user("ann")
    client = sign_in("ann")
    client.get("/desk/session/")
    with django_assert_num_queries(2):  # type: ignore[operator]  # the session and the account
        client.get("/desk/session/")


def test_a_new_password_ends_the_other_sessions() -> None:
    make_user("ann")
    here, there = sign_in("ann"), sign_in("ann")
    form = {"oldpassword": "ann", "password1": "a long enough sentence", "password2": "a long enough sentence"}
    assert here.post("/accounts/password/change/", form).status_code == 302
    assert is_in(here)
    assert not is_in(there)


def test_all_sessions_of_an_account_end_at_once() -> None:
    ann = make_user("ann")
    make_user("ben")
    mine, others = [sign_in("ann"), sign_in("ann")], sign_in("ben")
    end_sessions(ann)
    assert [is_in(client) for client in mine] == [False, False]
    assert is_in(others)


def test_cookies_are_closed_to_scripts_and_other_sites() -> None:
    make_user("ann")
    cookie = sign_in("ann").cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_too_many_attempts_lock_a_name_and_say_for_how_long(settings: Settings) -> None:
    make_user("ann")
    make_user("ben")
    client = Client()
    for _ in range(5):
        assert client.post("/accounts/login/", {"login": "ann", "password": "wrong"}).status_code == 200
    for password in ("wrong", "ann"):
        locked = Client().post("/accounts/login/", {"login": "ann", "password": password})
        assert locked.status_code == 429
        assert locked["Retry-After"] == str(settings.LOGIN_LOCK_SECONDS)
        assert "Too many failed login attempts" in locked.content.decode()
    assert is_in(sign_in("ben"))


@pytest.mark.slow
def test_a_lock_opens_by_itself(settings: Settings) -> None:
    make_user("ann")
    with time_machine.travel(now(), tick=False) as clock:
        for _ in range(6):
            Client().post("/accounts/login/", {"login": "ann", "password": "wrong"})
        clock.shift(timedelta(seconds=settings.LOGIN_LOCK_SECONDS + 1))
        assert is_in(sign_in("ann"))


def test_a_desk_is_told_of_a_lock_in_its_own_language() -> None:
    make_user("ann")
    ajax = {"x-requested-with": "XMLHttpRequest", "accept": "application/json"}
    for _ in range(6):
        credentials = {"login": "ann", "password": "wrong"}
        answer = Client().post("/accounts/login/", credentials, headers=ajax)
    assert answer.status_code == 429
    assert "Too many" in str(answer.json()["form"])


def test_what_the_table_of_sessions_holds_opens_no_account() -> None:
    make_user("ann")
    client = sign_in("ann")
    assert is_in(client)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    kept = set(Session.objects.values_list("session_key", flat=True))
    assert key not in kept
    for stolen in kept:
        thief = Client()
        thief.cookies[settings.SESSION_COOKIE_NAME] = stolen
        assert not is_in(thief)
    client.post("/accounts/logout/")
    assert not Session.objects.filter(session_key__in=kept).exists()
