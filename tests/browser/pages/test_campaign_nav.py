"""The ways through a campaign: all reachable, the one that one is on in sight, whatever the screen and the names."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.pages.test_axe import sign_in
from tests.worlds.campaign import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LONG = "Wilhelmina Konstantinopolitanskaja-Featherstonehaugh", "von Hohenzollern-Sigmaringen"


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> World:
    """The small campaign, organized by somebody with a long name."""
    world = make_world(tmp_path)
    world.people["olga"].first_name, world.people["olga"].last_name = LONG
    world.people["olga"].save()
    world.campaign.name = "A campaign whose name somebody made as long as they could, of eighty characters"
    world.campaign.save()
    return world


@pytest.mark.parametrize("width", [1440, 1280, 1024, 390])
def test_no_page_is_wider_than_the_screen_and_its_path_is_in_sight(
    world: World, chromium: Browser, live_server: LiveServer, width: int
) -> None:
    context = chromium.new_context(base_url=live_server.url, viewport={"width": width, "height": 800})
    page = context.new_page()
    sign_in(page, "olga")
    for name in ("today", "topics", "people"):
        page.goto(f"/campaigns/river/{name}/")
        here = page.locator(".shell nav [aria-current]")
        expect(here).to_be_in_viewport(ratio=0.95)
        expect(page.locator(".menu > summary")).to_be_in_viewport(ratio=0.95)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    first = page.locator(".shell nav a").first
    first.focus()
    expect(first).to_be_in_viewport(ratio=0.95)
    context.close()
