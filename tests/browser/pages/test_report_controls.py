"""The controls of a report act at once, and the leaderboard shows what the exported figures say."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.pages.test_axe import sign_in
from tests.worlds.campaign import World
from tests.worlds.sized import sized

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> World:
    return sized(tmp_path, 7, 6)


@pytest.fixture
def page(world: World, chromium: Browser, live_server: LiveServer) -> Page:
    context = chromium.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 720})
    page = context.new_page()
    sign_in(page, "olga")
    return page


def board_of(page: Page) -> str:
    return page.locator(".board").inner_text()


def test_a_control_acts_at_once_and_back_and_reload_agree(world: World, page: Page) -> None:
    """Checks 74 and 75."""
    page.goto(reverse("reports:leaderboard", args=[world.campaign.slug]) + "?condition=A/A")
    first = board_of(page)
    scored = page.get_by_label("Scored")
    scored.focus()
    scored.select_option("length")
    expect(page.locator(".board thead")).to_contain_text("0 to most")
    assert "score=length" in page.url
    expect(scored).to_be_focused()
    second = board_of(page)
    page.reload()
    assert board_of(page) == second
    expect(scored).to_have_value("length")
    page.locator(".rules summary").click()
    page.get_by_label("Unjudged label").focus()
    page.get_by_label("Unjudged label").select_option("zero")
    expect(page.locator("#rules")).to_have_text("1 rule differs: unjudged label counts 0.")
    expect(page.get_by_label("Unjudged label")).to_be_focused()
    page.go_back()
    expect(page.locator("#rules")).to_have_text("Scored as TREC 2024.")
    page.go_back()
    expect(page.locator(".board thead")).to_contain_text("0 to 1")
    assert board_of(page) == first
    expect(scored).to_have_value("vital_strict")
    page.context.close()


def test_the_board_fits_and_its_bars_end_at_the_exported_figures(world: World, page: Page) -> None:
    """Checks 76, 77 and 79."""
    address = reverse("reports:leaderboard", args=[world.campaign.slug]) + "?condition=A/A"
    page.goto(address)
    assert page.locator(".scroll").first.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    expect(page.locator("main")).to_contain_text("the smallest p possible is 0.234, so no pair can be significant")
    table = reverse("reports:leaderboard_table", args=[world.campaign.slug, "json"])
    rows = {row["run_id"]: row for row in page.request.get(f"{table}?condition=A/A").json()["runs"]}
    drawn = 0
    for line in page.locator(".board tbody tr").all():
        row = rows[line.locator("th a").inner_text()]
        if row["low"] is None:
            # Scores on too few values have no interval, and the bar says why.
            expect(line.locator("svg")).to_have_attribute("aria-label", "no interval: too many equal scores")
            expect(line.locator(".ends")).to_have_count(0)
            continue
        drawn += 1
        left, width = line.locator("svg").evaluate(
            "(svg) => { const box = svg.getBoundingClientRect(); return [box.left, box.width - 1]; }"
        )
        ends = line.locator(".ends").evaluate(
            "(part) => { const box = part.getBoundingClientRect(); return [box.left, box.right]; }"
        )
        assert ends == pytest.approx([left + width * row["low"], left + width * row["high"]], abs=1)
    assert drawn
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    box = page.locator(".board td.primary-column").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 560
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()


def test_a_click_or_enter_opens_a_point_s_run(world: World, page: Page) -> None:
    """Check 82."""
    address = reverse("reports:agreement", args=[world.campaign.slug]) + "?x=A/A&y=A/M"
    page.goto(address)
    # Several runs lie on one point, and the pointer reaches the one in front.
    page.locator(".drawn [data-said^='r']:not([data-said*='topic'])").last.click()
    page.wait_for_url("**/runs/**")
    page.go_back()
    page.locator(".drawn [tabindex='0']").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/**")
    page.context.close()
