"""The corrected leaderboard in a browser: it fits, the switch is in the address, more pairs are drawn by a click."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Campaign
from tests.browser.pages.test_axe import SIZES, problems_on, sign_in
from tests.worlds.audits import make_wide
from tests.worlds.cast import make_cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]
BOARD = "/campaigns/river/leaderboard/?condition=E/A&score=all"


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> None:
    """Four runs with a complete check, behind the live server."""
    make_wide(tmp_path)
    make_cast(Campaign.objects.get())


@pytest.fixture
def page(world: None, chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    context = chromium.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 720})
    page = context.new_page()
    sign_in(page, "olga")
    yield page
    context.close()


def test_the_corrected_board_fits_and_is_accessible(page: Page) -> None:
    page.goto(f"{BOARD}&view=corrected")
    assert page.locator(".scroll").first.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    page.set_viewport_size(SIZES["phone"])
    box = page.locator(".board tbody .primary-column").first.bounding_box()
    assert box
    assert box["y"] + box["height"] < 560
    assert page.locator(".scroll").first.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    assert not problems_on(page, f"{BOARD}&view=corrected")


def test_the_switch_is_in_the_address_for_back_and_reload(page: Page) -> None:
    page.goto(BOARD)
    switch = page.get_by_role("navigation", name="Scores by")
    switch.get_by_role("link", name="Corrected").click()
    expect(page.locator("main")).to_contain_text("Corrected by 96 human judgments of 192.")
    assert "view=corrected" in page.url
    first = page.locator(".board").inner_text()
    page.reload()
    assert page.locator(".board").inner_text() == first
    # A control of the form keeps the view.
    page.get_by_label("Scored").select_option("weighted")
    expect(page.locator(".board caption")).to_contain_text("Runs by corrected Weighted")
    page.go_back()
    expect(page.locator(".board caption")).to_contain_text("Runs by corrected All,")
    assert page.locator(".board").inner_text() == first
    switch.get_by_role("link", name="LLM").click()
    expect(page.locator("main")).to_contain_text("after Holm")
    page.go_back()
    expect(page.locator("main")).to_contain_text("Corrected by 96 human judgments of 192.")


def test_more_pairs_are_drawn_without_a_script(page: Page, chromium: Browser, live_server: LiveServer) -> None:
    state = page.context.storage_state()
    context = chromium.new_context(base_url=live_server.url, storage_state=state, java_script_enabled=False)
    plain = context.new_page()
    plain.goto(BOARD)
    plain.get_by_role("link", name="Corrected", exact=True).click()
    plain.get_by_role("button", name="more of each").first.click()
    expect(plain.get_by_role("status")).to_contain_text("Drawn for check: ")
    expect(plain.locator("main")).to_contain_text("scores are corrected when all are")
    expect(plain.get_by_role("link", name="Hand out and progress")).to_be_visible()
    context.close()
