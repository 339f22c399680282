"""Pages as they are printed: dark on light whatever the theme, without controls, and with the whole of their tables."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from assessor.desk.context import open_desk
from tests.browser.accessibility import dark_page
from tests.browser.pages.test_axe import sign_in
from tests.worlds.desk import DeskWorld
from tests.worlds.work import make_work_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

CUT = "(boxes) => boxes.filter((box) => getComputedStyle(box).overflowX !== 'visible').length"


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    world = make_work_world(tmp_path)
    open_desk(task=world.post_edit.public_id, user=world.people["ann"])
    return world


def background(page: Page) -> str:
    found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return found


def test_today_and_people_s_work_are_printed_whole_and_light(
    world: DeskWorld, chromium: Browser, live_server: LiveServer
) -> None:
    page = dark_page(chromium, live_server.url)
    sign_in(page, "olga")
    for address in ("today/", "people/"):
        page.goto(f"/campaigns/river/{address}")
        page.emulate_media(media="screen")
        assert background(page) == "rgb(23, 25, 28)"
        page.emulate_media(media="print")
        assert background(page) == "rgb(255, 255, 255)"
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("button:visible, .button:visible, .shell:visible")).to_have_count(0)
        assert page.locator(".scroll").evaluate_all(CUT) == 0
    page.context.close()
