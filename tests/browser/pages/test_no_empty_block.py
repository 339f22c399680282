"""Windows: no main page is blank over a third; a telephone shows the first figure and scrolls nothing sideways."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from exchange.demo_campaign import PASSWORD, SLUG
from exchange.imports.kinds import IMPORT_KINDS
from reports.registry import pages
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
    reports:scores reports:correlation reports:confusion reports:methods
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


FORMS = """
    organizer:new_export organizer:new_connection organizer:new_judge organizer:new_check organizer:new_study
    organizer:new_import organizer:snapshots organizer:new_prompt organizer:import_prompt organizer:try_prompts
    organizer:change_protocol organizer:change_defaults organizer:change_work organizer:remind organizer:battles
    organizer:people
"""


def test_check_68_the_primary_button_of_each_form_is_in_view(chromium: Browser, live_server: LiveServer) -> None:
    make_every_page()
    routes = every_address()
    page = chromium.new_page(base_url=live_server.url, viewport={"width": 1440, "height": 900})
    sign_in(page, "olga", PASSWORD)
    primary = page.locator("main .go")
    for name in FORMS.split():
        for kind in IMPORT_KINDS if name == "organizer:new_import" else [""]:
            page.goto(filled(routes[name], {"slug": SLUG, "kind": kind}))
            expect(primary, f"{name} {kind}").to_have_count(1)
            expect(primary, f"{name} {kind}").to_be_in_viewport(ratio=1)
    page.get_by_label("Email addresses").fill("\n".join(f"person{n}@example.org" for n in range(30)))
    page.get_by_role("button", name="Preview").click()
    expect(primary).to_have_text("Send 30 invitations as assessor")
    expect(primary).to_be_in_viewport(ratio=1)
    page.context.clear_cookies()
    sign_in(page, "admin", PASSWORD)
    page.goto(routes["organizer:new_campaign"])
    expect(primary).to_have_count(1)
    expect(primary).to_be_in_viewport(ratio=1)


def test_check_76_the_first_score_is_in_the_first_window(chromium: Browser, live_server: LiveServer) -> None:
    make_every_page()
    page = chromium.new_page(base_url=live_server.url, viewport={"width": 390, "height": 844})
    sign_in(page, "olga", PASSWORD)
    page.goto(filled(every_address()["reports:scores"], {"slug": SLUG}))
    expect(page.locator(".choices-fold")).to_contain_text("Judge")
    score = page.locator(".board td.primary-column").first.bounding_box()
    assert score is not None
    assert score["y"] + score["height"] < 560


FIGURES = "td.n:not(:empty), figure"
FIRST_FIGURE = {
    "today/": ".pipeline a",
    "work/": ".task-chip",
    "jobs/": "tbody th",
    "judges/": "tbody td",
    "people/": ".hours, tbody td",
    "data/": ".tiles dd",
    "snapshots/": "form .muted",
    "quality/": ".trusts td",
    "methods/": ".contents",
    "reports/cost/": FIGURES,
    **{report.address: FIGURES for report in pages().values()},
    "leaderboard/": ".board td.primary-column",
    "agreement/": ".taus .figure",
    "confusion/": ".heat td b",
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
