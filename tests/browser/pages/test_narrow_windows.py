"""Pages in the window of a telephone: their first figure is in sight, and nothing scrolls sideways at 400 % zoom."""

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from exchange.demo_campaign import PASSWORD, SLUG
from tests.browser.pages.every_page import REPORTS, make_every_page
from tests.browser.pages.test_axe import sign_in

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

FIGURES = "td.n:not(:empty), figure"
FIRST_FIGURE = {
    "today/": ".pipeline a",
    "work/": ".task-progress",
    "jobs/": "tbody th",
    "judges/": "tbody td",
    "people/": ".hours, tbody td",
    "data/": ".tiles dd",
    "snapshots/": "form .muted",
    "leaderboard/": ".board td.primary-column",
    "agreement/": ".taus .figure",
    "confusion/": ".heat td b",
    "quality/": ".trusts td",
    "methods/": ".contents",
    "reports/cost/": FIGURES,
    **{f"reports/{name}/": FIGURES for name in REPORTS},
}
"""Where the first thing stands that a page is opened for, and what it is."""
SHOWN_OF_A_PICTURE = 60


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Page:
    make_every_page()
    page = chromium.new_page(base_url=live_server.url, viewport={"width": 390, "height": 844})
    sign_in(page, "olga", PASSWORD)
    return page


def test_the_first_figure_is_above_560_px_at_390(page: Page) -> None:
    found = {}
    for address, figure in FIRST_FIGURE.items():
        page.goto(f"/campaigns/{SLUG}/{address}")
        box = page.locator("main").locator(figure).locator("visible=true").first.bounding_box()
        assert box, address
        end = box["y"] + min(box["height"], SHOWN_OF_A_PICTURE)
        if end > 560:
            found[address] = end
    assert not found


def test_the_choices_of_a_report_unfold_from_one_line(page: Page) -> None:
    page.goto(f"/campaigns/{SLUG}/leaderboard/")
    line = page.locator(".choices-fold > summary")
    expect(line).to_contain_text("Scored: Vital, strict. By: Automatic nuggets, automatic labels (A/A).")
    expect(page.get_by_label("Scored")).to_be_hidden()
    line.click()
    page.get_by_label("Scored").select_option("all")
    expect(line).to_contain_text("Scored: All.")
    expect(page.get_by_label("Scored")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.reload()
    expect(page.get_by_label("Scored")).to_be_visible()
    expect(line).to_be_hidden()


def test_nothing_scrolls_sideways_at_320_px(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    found = {}
    for address in FIRST_FIGURE:
        page.goto(f"/campaigns/{SLUG}/{address}")
        page.evaluate(
            "document.querySelectorAll('main .choices-form details').forEach((fold) => (fold.open = true))"
        )
        if (width := page.evaluate("document.documentElement.scrollWidth")) > 320:
            found[address] = width
    assert not found
