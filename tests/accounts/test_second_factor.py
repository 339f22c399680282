"""A second factor: codes of an app by RFC 6238, recovery codes, and where organizers must have one."""

import base64
import hmac
import re
import struct
from collections.abc import Iterator
from hashlib import sha1
from time import time

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.test import Client
from pytest_django.fixtures import Settings

from tests.accounts.conftest import People, confirmed, sign_in
from tests.worlds.cast import make_user

pytestmark = pytest.mark.django_db

ACTIVATE, AUTHENTICATE = "/accounts/2fa/totp/activate/", "/accounts/2fa/authenticate/"
START = 1_800_000_000


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that stands still, so that no code runs out; a code is good once, so tests move on."""
    with time_machine.travel(START, tick=False) as coordinates:
        yield coordinates


def code_of(secret: str) -> str:
    """Return what an app shows now (RFC 6238, six digits, 30 s)."""
    key = base64.b32decode(secret)
    digest = hmac.new(key, struct.pack(">Q", int(time()) // 30), sha1).digest()
    place = digest[-1] & 15
    number = struct.unpack(">I", digest[place : place + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def with_app(name: str) -> tuple[Client, str, list[str]]:
    """Set an app up; return the browser, the secret, and the recovery codes that were shown."""
    client = confirmed(name)
    page = client.get(ACTIVATE).content.decode()
    secret = re.findall(r'id="authenticator_secret" class="secret" value="([A-Z2-7]+)"', page)[0]
    shown = client.post(ACTIVATE, {"code": code_of(secret)}, follow=True).content.decode()
    return client, secret, re.findall(r"<code>(\w+)</code>", shown)


def is_in(client: Client) -> bool:
    return client.get("/desk/").status_code == 200


def test_signing_in_asks_for_a_code_of_the_app(clock: time_machine.Traveller) -> None:
    make_user("ann")
    _, secret, _ = with_app("ann")
    clock.shift(60)
    client = sign_in("ann")
    assert not is_in(client)
    assert client.post(AUTHENTICATE, {"code": "000000"}).status_code == 200
    assert not is_in(client)
    client.post(AUTHENTICATE, {"code": code_of(secret)})
    assert is_in(client)


def test_a_code_is_good_once(clock: time_machine.Traveller) -> None:
    make_user("ann")
    _, secret, _ = with_app("ann")
    clock.shift(60)
    first, second = sign_in("ann"), sign_in("ann")
    for client in (first, second):
        client.post(AUTHENTICATE, {"code": code_of(secret)})
    assert [is_in(first), is_in(second)] == [True, False]


def test_a_recovery_code_is_good_once_and_shown_once(clock: time_machine.Traveller) -> None:
    make_user("ann")
    client, _, codes = with_app("ann")
    assert len(codes) == 10
    for once, good in ((codes[0], True), (codes[0], False), (codes[1], True)):
        other = sign_in("ann")
        other.post(AUTHENTICATE, {"code": once})
        assert is_in(other) == good
    assert codes[5] not in client.get("/accounts/2fa/recovery-codes/").content.decode()


def test_guessing_codes_is_locked(clock: time_machine.Traveller) -> None:
    make_user("ann")
    _, secret, _ = with_app("ann")
    clock.shift(60)
    client = sign_in("ann")
    for guess in range(6):
        client.post(AUTHENTICATE, {"code": f"{guess:06}"})
    client.post(AUTHENTICATE, {"code": code_of(secret)})
    assert not is_in(client)


def test_what_codes_are_made_from_is_not_readable_in_the_database(clock: time_machine.Traveller) -> None:
    make_user("ann")
    _, secret, codes = with_app("ann")
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert all(code not in stored for code in codes)


def test_a_desk_asks_for_the_code_too(clock: time_machine.Traveller) -> None:
    """As static/js/saving/session.js does it."""
    make_user("ann")
    _, secret, _ = with_app("ann")
    clock.shift(60)
    client, ajax = Client(), {"x-requested-with": "XMLHttpRequest", "accept": "application/json"}
    answer = client.post("/accounts/login/", {"login": "ann", "password": "ann"}, headers=ajax)
    assert answer.json()["location"] == AUTHENTICATE
    assert client.get("/desk/session/").json()["user"] is None
    assert client.post(AUTHENTICATE, {"code": "000000"}, headers=ajax).status_code == 200
    assert client.post(AUTHENTICATE, {"code": code_of(secret)}, headers=ajax).status_code == 302
    assert client.get("/desk/session/").json()["user"]


@pytest.mark.slow
def test_an_administrator_takes_a_lost_factor_away(people: People, clock: time_machine.Traveller) -> None:
    with_app("ann")
    people.client("ada").post(f"/accounts/people/{people.by_name['ann'].pk}/factor/")
    assert not Authenticator.objects.exists()
    assert is_in(sign_in("ann"))


@pytest.mark.parametrize(("name", "required"), [("olga", True), ("ada", True), ("ann", False), ("rita", False)])
def test_organizers_and_administrators_may_have_to_have_one(
    people: People, settings: Settings, clock: time_machine.Traveller, name: str, required: bool
) -> None:
    settings.REQUIRE_MFA = True
    client = people.client(name)
    answer = client.get("/accounts/tokens/") if name == "ann" else client.get("/campaigns/river/today/")
    assert (answer.get("Location") == "/accounts/2fa/") == required
    refused = client.post("/campaigns/river/people/give/", {"username": "sam", "role": "assessor"})
    assert refused.status_code in (403, 404)
    if required:
        assert client.get("/accounts/2fa/").status_code == 200
        assert client.get("/desk/session/").status_code == 200
        assert client.get("/accounts/browsers/").status_code == 200
        client, _, _ = with_app(name)
        assert client.get("/campaigns/river/today/").status_code == 200
