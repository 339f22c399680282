"""Passkeys in Chromium, with a virtual authenticator: added, signed in with, used as the second factor, taken away.

A browser allows them over plain HTTP on `localhost` only, so the pages are asked for by that name.
"""

from collections.abc import Iterator

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.worlds.cast import make_user

pytestmark = [
    *(pytest.mark.browser, pytest.mark.xdist_group("browser")),
    pytest.mark.django_db(transaction=True),
]

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    make_user("ann")
    context = chromium.new_context(base_url=live_server.url.replace("127.0.0.1", "localhost"))
    page = context.new_page()
    keys = context.new_cdp_session(page)
    keys.send("WebAuthn.enable")
    keys.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    yield page
    context.close()


@pytest.fixture(autouse=True)
def complaints(page: Page) -> Iterator[list[str]]:
    """What the browser complains about, such as a script that the policy forbids: nothing."""
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield errors
    assert errors == []


def sign_in(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Username or email").fill("ann")
    page.get_by_label("Password").fill("ann")
    page.get_by_role("button", name="Sign in").click()


def sign_out(page: Page) -> None:
    page.goto("/accounts/logout/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.get_by_label("Username or email").wait_for()


def add_key(page: Page, *, passkey: bool) -> None:
    """Add the browser's key; the password was typed a moment ago, so nobody asks for it again."""
    sign_in(page)
    page.get_by_text("Your account").wait_for(state="attached")
    page.goto("/accounts/2fa/webauthn/add/")
    page.get_by_label("Name, such as the device").fill("laptop")
    if passkey:
        page.get_by_label("A passkey").check()
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()


def test_a_passkey_alone_signs_in(page: Page) -> None:
    add_key(page, passkey=True)
    sign_out(page)
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_text("Your account").wait_for(state="attached")
    assert Authenticator.objects.get(type="webauthn").last_used_at


def test_a_key_is_a_second_factor(page: Page) -> None:
    add_key(page, passkey=False)
    sign_out(page)
    sign_in(page)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    page.get_by_role("button", name="Use a passkey or security key").click()
    page.get_by_text("Your account").wait_for(state="attached")


def test_a_key_is_renamed_and_taken_away(page: Page) -> None:
    add_key(page, passkey=True)
    page.goto("/accounts/2fa/webauthn/")
    expect(page.get_by_role("rowheader", name="laptop")).to_be_visible()
    page.get_by_role("link", name="Rename").click()
    page.get_by_label("Name").fill("old laptop")
    page.get_by_role("button", name="Save").click()
    page.goto("/accounts/2fa/webauthn/")
    page.get_by_role("link", name="Take away").click()
    page.get_by_role("button", name="Take it away").click()
    assert not Authenticator.objects.filter(type="webauthn").exists()
