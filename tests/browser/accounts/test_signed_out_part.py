"""Whoever is signed out under their hands keeps what a page shows and what they typed, and is told so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from exchange.models import ImportAttempt
from tests.browser.pages.test_axe import SIZES, sign_in
from tests.worlds.campaign import World, make_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
WORDS = "Judge what the passage says."


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES["desk"])
    yield context.new_page()
    context.close()


def test_an_import_being_tried_out_stays_and_says_signed_out(world: World, page: Page) -> None:
    olga = world.people["olga"]
    options = {"kind": "topics", "files": [], "folder": "x", "made_by": olga, "expires_at": olga.date_joined}
    attempt = ImportAttempt.objects.create(campaign=world.campaign, **options)
    sign_in(page, "olga")
    page.goto(f"/campaigns/river/data/imports/{attempt.pk}/")
    page.context.clear_cookies(name="sessionid")
    expect(page.locator("#signed-out")).to_contain_text("You are signed out.")
    expect(page.locator("#attempt")).to_contain_text("Being tried out.")


def test_typed_guidelines_are_sent_by_a_click_after_signing_in_again(world: World, page: Page) -> None:
    sign_in(page, "olga")
    page.goto("/campaigns/river/protocol/change/")
    page.fill("[name=guidelines]", WORDS)
    page.fill("[name=reason]", "clearer words")
    page.context.clear_cookies(name="sessionid")
    page.locator("form:has([name=guidelines]) button.go").last.click()
    expect(page.locator("textarea[name=guidelines]")).to_have_value(WORDS)
    other = page.context.new_page()
    sign_in(other, "olga")
    other.close()
    page.click("text=Send again")
    expect(page.locator("h1")).not_to_have_text("Not saved yet")
    world.campaign.refresh_from_db()
    assert world.campaign.protocol.guidelines == WORDS
