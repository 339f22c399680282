"""Where one is signed in, signing out of there, and the browser that an account is known by."""

from datetime import timedelta

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from accounts.models import ApiToken
from accounts.tokens import make_token
from config.settings import login_limits
from tests.accounts.conftest import People, sign_in
from tests.accounts.test_sessions import is_in
from tests.worlds.cast import make_user

pytestmark = pytest.mark.django_db

BROWSERS, END_ALL = "/accounts/browsers/", "/accounts/browsers/end/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36 Edg/130.0"


def signed_in_with(agent: str, name: str = "ann") -> Client:
    client = Client(headers={"user-agent": agent})
    client.post("/accounts/login/", {"login": name, "password": name})
    return client


def test_every_browser_of_ones_own_is_listed_and_none_of_others() -> None:
    make_user("ann")
    make_user("ben")
    signed_in_with(EDGE)
    signed_in_with("Opera Mini", "ben")
    page = signed_in_with(FIREFOX).get(BROWSERS).content.decode()
    rows = page.split("<tbody>")[1].split("</tbody>")[0]
    assert rows.count("<tr>") == 2
    assert ("Firefox on Linux" in rows, "Edge on Windows" in rows, rows.count("(this one)")) == (True, True, 1)
    keys = [key for key in Session.objects.values_list("session_key", flat=True) if key in page]
    assert keys == []


def test_one_browser_is_signed_out_from_another() -> None:
    make_user("ann")
    there, here = signed_in_with(EDGE), signed_in_with(FIREFOX)
    here.post(f"{BROWSERS}{there.session['mark']}/end/")
    assert (is_in(here), is_in(there)) == (True, False)


def test_nobody_signs_another_person_out() -> None:
    make_user("ann")
    make_user("ben")
    there, here = signed_in_with(EDGE, "ben"), signed_in_with(FIREFOX)
    assert here.post(f"{BROWSERS}{there.session['mark']}/end/").status_code == 404
    assert is_in(there)


@pytest.mark.parametrize("with_tokens", [False, True])
def test_signing_out_everywhere_can_take_ones_tokens_along(with_tokens: bool) -> None:
    ann = make_user("ann")
    make_token(user=ann, name="notebook", scopes=["read"], expires_at=now() + timedelta(days=1))
    there, here = signed_in_with(EDGE), signed_in_with(FIREFOX)
    here.post(END_ALL, {"tokens": "1"} if with_tokens else {})
    assert (is_in(here), is_in(there)) == (False, False)
    assert ApiToken.objects.filter(revoked_at=None).exists() is not with_tokens


def test_a_session_that_was_left_open_signs_nobody_out() -> None:
    ann = make_user("ann")
    there = signed_in_with(EDGE)
    here = Client()
    here.force_login(ann)
    here.post(END_ALL)
    assert is_in(there)


def test_who_has_just_signed_in_is_not_asked_again() -> None:
    make_user("ann")
    with time_machine.travel(now(), tick=False) as clock:
        client = sign_in("ann")
        assert client.get("/accounts/tokens/").status_code == 200
        clock.shift(timedelta(minutes=6))
        assert client.get("/accounts/tokens/")["Location"].startswith("/accounts/reauthenticate/")


def guess(login: str, times: int) -> int:
    credentials = {"login": login, "password": "wrong"}
    return [Client().post("/accounts/login/", credentials).status_code for _ in range(times)][-1]


@pytest.mark.parametrize("failed", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_an_account_takes_at_most_a_hundred_guesses_an_hour(settings: Settings, failed: int) -> None:
    make_user("ann")
    settings.ACCOUNT_RATE_LIMITS = login_limits(failed=failed, seconds=300)
    taken = 0
    with time_machine.travel(now(), tick=False) as clock:
        for _ in range(11):
            for login in ("ann", "ann@example.org"):
                credentials = {"login": login, "password": "wrong"}
                answers = [Client().post("/accounts/login/", credentials).status_code for _ in range(failed)]
                taken += answers.count(200)
            clock.shift(timedelta(minutes=5, seconds=1))
    assert failed <= taken <= 100


@pytest.mark.parametrize("other", ["ANN", " ann", "ann@example.org", "shown@example.org"])
def test_name_and_addresses_of_an_account_share_one_count(other: str) -> None:
    EmailAddress.objects.create(user=make_user("ann"), email="shown@example.org", verified=True)
    assert guess("ann", 5) == 200
    assert guess(other, 1) == 429


def test_guessing_does_not_keep_the_owner_out_of_their_browser() -> None:
    make_user("ann")
    known = sign_in("ann")
    known.post("/accounts/logout/")
    assert guess("ann", 6) == 429
    assert not is_in(sign_in("ann"))
    known.post("/accounts/login/", {"login": "ann", "password": "ann"})
    assert is_in(known)


def test_a_known_browser_may_not_guess_without_end(settings: Settings) -> None:
    make_user("ann")
    make_user("ben")
    known = sign_in("ann")
    known.post("/accounts/logout/")
    for login in ("ann", "ben"):
        credentials = {"login": login, "password": "wrong"}
        answers = [known.post("/accounts/login/", credentials).status_code for _ in range(6)]
        assert answers == [200] * 5 + [429]


def test_a_made_up_cookie_makes_no_browser_known() -> None:
    make_user("ann")
    assert guess("ann", 6) == 429
    forged = Client()
    forged.cookies["known-browser"] = "WzEsMCwieCJd:1abc:forged"
    forged.post("/accounts/login/", {"login": "ann", "password": "ann"})
    assert not is_in(forged)


def test_a_bad_invitation_leaves_no_session(people: People) -> None:
    before = Session.objects.count()
    client = Client()
    answers = [client.get(f"/invitation/made-up-{n}/") for n in range(35)]
    assert Session.objects.count() == before
    assert not client.cookies
    assert (answers[0].status_code, answers[-1].status_code) == (410, 429)


def test_security_txt_says_where_to_report(settings: Settings) -> None:
    address = "/.well-known/security.txt"
    assert Client().get(address).status_code == 404
    settings.SECURITY_CONTACT = "mailto:security@lab.example"
    text = Client().get(address).content.decode()
    assert "Contact: mailto:security@lab.example\n" in text
    assert "Expires: 20" in text
