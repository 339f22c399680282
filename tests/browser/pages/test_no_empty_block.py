"""No main page of organizers is blank over a third of the window."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from exchange.demo_campaign import PASSWORD, SLUG
from tests.browser.pages.every_page import make_every_page
from tests.browser.pages.test_axe import sign_in
from tests.crawl.test_permissions import every_address, filled

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

EMPTY_BLOCK = Path(__file__).with_name("empty_block.js").read_text()
PAGES = """
    organizer:today organizer:data organizer:people organizer:work organizer:hand_out organizer:inbox organizer:jobs
    organizer:new_job organizer:judges organizer:quality organizer:snapshots organizer:prompts organizer:protocol
    organizer:practice organizer:topics organizer:runs organizer:studies
    reports:leaderboard reports:agreement reports:confusion reports:methods
"""


def test_check_61_no_block_over_a_third_of_the_window_is_empty(chromium: Browser, live_server: LiveServer) -> None:
    make_every_page()
    routes = every_address()
    page = chromium.new_page(base_url=live_server.url, viewport={"width": 1440, "height": 900})
    sign_in(page, "olga", PASSWORD)
    problems = []
    for name in PAGES.split():
        address = filled(routes[name], {"slug": SLUG})
        page.goto(address)
        block = page.evaluate(EMPTY_BLOCK)
        if block["percent"] > 100 / 3:
            problems.append(f"{address}: {block['percent']:.0f} % at {block['at']}")
    assert problems == []


def test_check_76_the_first_score_is_in_the_first_window(chromium: Browser, live_server: LiveServer) -> None:
    make_every_page()
    page = chromium.new_page(base_url=live_server.url, viewport={"width": 390, "height": 844})
    sign_in(page, "olga", PASSWORD)
    page.goto(filled(every_address()["reports:leaderboard"], {"slug": SLUG}))
    expect(page.locator(".choices-fold")).to_contain_text("Judge")
    score = page.locator(".board td.primary-column").first.bounding_box()
    assert score is not None
    assert score["y"] + score["height"] < 560
