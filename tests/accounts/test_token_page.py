"""One's tokens: shown once, listed, revoked; nobody else's."""

import re

import pytest
from django.test import Client

from accounts.models import ApiToken
from accounts.tokens import token_of
from tests.accounts.conftest import confirmed
from tests.worlds.cast import make_user

pytestmark = pytest.mark.django_db

TOKENS = "/accounts/tokens/"


def made(client: Client, **changes: object) -> str:
    fields = {"name": "notebook", "scopes": ["read"], "days": "30"} | changes
    page = client.post(TOKENS, fields).content.decode()
    return str(re.findall(r'value="(assay_[^"]+)"', page)[0])


def test_a_token_is_shown_once_and_works() -> None:
    ann = make_user("ann")
    client = confirmed("ann")
    raw = made(client)
    found = token_of(raw)
    assert found
    assert found.user == ann
    page = client.get(TOKENS).content.decode()
    assert raw not in page
    assert f"{found.prefix}…" in page
    assert "no-store" in client.get(TOKENS)["Cache-Control"]


def test_a_revoked_token_is_over() -> None:
    make_user("ann")
    client = confirmed("ann")
    raw = made(client)
    client.post(f"{TOKENS}{ApiToken.objects.get().pk}/revoke/")
    assert token_of(raw) is None
    page = client.get(TOKENS).content.decode()
    assert "revoked" in page
    assert "Revoke<" not in page


def test_another_persons_token_is_not_there() -> None:
    make_user("ann")
    make_user("ben")
    raw = made(confirmed("ann"))
    ben = confirmed("ben")
    assert "You have none." in ben.get(TOKENS).content.decode()
    assert ben.post(f"{TOKENS}{ApiToken.objects.get().pk}/revoke/").status_code == 404
    assert token_of(raw)


def test_a_wish_that_makes_no_sense_makes_nothing() -> None:
    make_user("ann")
    client = confirmed("ann")
    for wrong in ({"scopes": ["admin"]}, {"days": "9999"}, {"name": ""}):
        answer = client.post(TOKENS, {"name": "notebook", "scopes": ["read"], "days": "30"} | wrong)
        assert answer.status_code == 422
    assert not ApiToken.objects.exists()


def test_a_session_that_was_left_open_makes_no_token() -> None:
    """Whoever finds a signed-in browser has to know the password too."""
    ann = make_user("ann")
    client = Client()
    client.force_login(ann)
    assert client.get(TOKENS)["Location"].startswith("/accounts/reauthenticate/")
    client.post(TOKENS, {"name": "notebook", "scopes": ["read"], "days": "30"})
    assert not ApiToken.objects.exists()
