"""The controls of a report act at once, and the leaderboard shows what the exported figures say."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Error, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Campaign
from tests.browser.pages.test_axe import SIZES, problems_on, sign_in
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.random_checks import make_wide
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


def go_back(page: Page) -> None:
    """Go back to a state of the same page, which the browser reads anew; wait until its scripts listen."""
    with page.expect_event("load"):
        page.evaluate("setTimeout(() => history.back())")


def test_a_control_acts_at_once_and_back_and_reload_agree(world: World, page: Page) -> None:
    """Checks 74 and 75."""
    page.goto(reverse("reports:scores", args=[world.campaign.slug]) + "?condition=A/A")
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
    expect(page.locator("#rules")).to_have_text("1 rule differs from TREC 2024: unjudged label counts 0.")
    expect(page.get_by_label("Unjudged label")).to_be_focused()
    go_back(page)
    expect(page.locator("#rules")).to_have_text("Scored as TREC 2024.")
    go_back(page)
    expect(page.locator(".board")).to_have_text(first, use_inner_text=True)
    expect(scored).to_have_value("vital_strict")
    page.context.close()


def test_a_choice_stands_though_scripts_or_answers_come_late(world: World, page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/htmx*.js", hold)
    page.goto(reverse("reports:scores", args=[world.campaign.slug]), wait_until="commit")
    scored, chosen = page.get_by_label("Scored"), page.locator("#chosen")
    scored.select_option("length")
    held.pop().continue_()
    expect(chosen).to_contain_text("Scored: Words.")
    page.route("**/*score=all&*", hold)
    with page.expect_request("**/*score=all&*"):
        scored.select_option("all")
    scored.select_option("length")
    page.get_by_label("By", exact=True).select_option("A/M")
    with suppress(Error):  # the page waits for it no more
        held.pop().continue_()
    expect(chosen).to_contain_text("(A/M)")
    page.wait_for_load_state("networkidle")
    expect(chosen).to_contain_text("Scored: Words. By: Automatic nuggets, manual labels (A/M).")
    page.context.close()


def test_check_74_each_of_three_controls_acts_at_once(world: World, page: Page) -> None:
    address = reverse("reports:scores", args=[world.campaign.slug])
    page.goto(f"{address}?condition=A/A")
    shown = [board_of(page)]
    for label, value, there in (
        ("Scored", "all", "score=all"),
        ("By", "A/M", "condition=A/M"),
        ("Group", "", "group="),
    ):
        if label == "Group":
            page.locator(".choices-form summary", has_text="Runs").click()
        control = page.locator(".choices-form").get_by_label(label, exact=True)
        control.focus()
        chosen = value or control.locator("option").nth(1).get_attribute("value") or ""
        before = page.url
        control.select_option(chosen)
        expect(page).not_to_have_url(before)
        assert there in unquote(page.url)
        expect(page.locator(".choices-form").get_by_label(label, exact=True)).to_be_focused()
        page.wait_for_load_state("networkidle")
        shown.append(board_of(page))
    copied = page.url
    page.reload()
    assert board_of(page) == shown[-1]
    for table in reversed(shown[:-1]):
        go_back(page)
        expect(page.locator(".board")).to_have_text(table, use_inner_text=True)
    other = page.context.new_page()
    other.goto(copied)
    assert board_of(other) == shown[-1]
    page.context.close()


def test_menus_of_a_report_close_with_escape_and_fit_the_window(world: World, page: Page) -> None:
    page.goto(reverse("reports:correlation", args=[world.campaign.slug]) + "?x=A/A&y=A/M")
    page.get_by_label("Scored").select_option("all")
    page.wait_for_url("**score=all**")
    menus = page.locator(".choices-form details.menu")
    assert menus.count() >= 1
    for menu in menus.all():
        # However far to the right the window's width leaves it, the first time and again.
        for width in (780, 840, 920, 1000, 1080, 1160, 1160):
            page.set_viewport_size({"width": width, "height": 720})
            menu.locator("summary").click()
            expect(menu.locator(".menu-body")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.keyboard.press("Escape")
            expect(menu.locator(".menu-body")).to_be_hidden()
            expect(menu.locator("summary")).to_be_focused()
    page.context.close()


def test_the_board_fits_and_its_bars_end_at_the_exported_figures(world: World, page: Page) -> None:
    """Checks 76, 77 and 79."""
    address = reverse("reports:scores", args=[world.campaign.slug]) + "?condition=A/A"
    page.goto(address)
    assert page.locator(".scroll").first.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    expect(page.locator("main")).to_contain_text("the smallest p possible is 0.234, so no pair can be significant")
    table = reverse("reports:scores_table", args=[world.campaign.slug, "runs", "json"])
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
    address = reverse("reports:correlation", args=[world.campaign.slug]) + "?x=A/A&y=A/M"
    page.goto(address)
    # Several runs lie on one point, and the pointer reaches the one in front.
    page.locator(".drawn [data-caption^='r']:not([data-caption*='topic'])").last.click()
    page.wait_for_url("**/runs/**")
    page.go_back()
    page.locator(".drawn [tabindex='0']").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/**")
    page.context.close()


CHECKED_BOARD = "/campaigns/river/leaderboard/?condition=E/A&score=all"


@pytest.fixture
def checked(live_server: LiveServer, chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    """Olga's page in a campaign of four runs with a complete random check."""
    make_wide(tmp_path)
    make_cast(Campaign.objects.get())
    context = chromium.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 720})
    page = context.new_page()
    sign_in(page, "olga")
    yield page
    context.close()


def test_the_corrected_board_fits_and_is_accessible(checked: Page) -> None:
    checked.goto(f"{CHECKED_BOARD}&view=corrected")
    assert checked.locator(".scroll").first.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    checked.set_viewport_size(SIZES["phone"])
    box = checked.locator(".board tbody .primary-column").first.bounding_box()
    assert box
    assert box["y"] + box["height"] < 560
    assert checked.locator(".scroll").first.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    assert not problems_on(checked, f"{CHECKED_BOARD}&view=corrected")


def test_the_corrected_board_is_printed_with_its_terms(checked: Page) -> None:
    checked.goto(f"{CHECKED_BOARD}&view=corrected")
    checked.emulate_media(media="print")
    expect(checked.get_by_role("button", name="95 % interval")).to_be_visible()
    expect(checked.locator("#report p").filter(has_text="by 96 human judgments")).to_contain_text("Corrected")
    expect(checked.locator("#report").get_by_role("button", name="more of each").first).to_be_hidden()
    expect(checked.locator(".switch").first).to_be_hidden()


def test_the_switch_is_in_the_address_for_back_and_reload(checked: Page) -> None:
    checked.goto(CHECKED_BOARD)
    switch = checked.get_by_role("navigation", name="Scores by")
    switch.get_by_role("link", name="Corrected").click()
    expect(checked.locator("main")).to_contain_text("Corrected by 96 human judgments of 192.")
    assert "view=corrected" in checked.url
    first = checked.locator(".board").inner_text()
    checked.reload()
    assert checked.locator(".board").inner_text() == first
    # A control of the form keeps the view.
    checked.get_by_label("Scored").select_option("weighted")
    expect(checked.locator(".board caption")).to_contain_text("Runs by corrected Weighted")
    checked.go_back()
    expect(checked.locator(".board caption")).to_contain_text("Runs by corrected All,")
    assert checked.locator(".board").inner_text() == first
    switch.get_by_role("link", name="LLM").click()
    expect(checked.locator("main")).to_contain_text("after Holm")
    checked.go_back()
    expect(checked.locator("main")).to_contain_text("Corrected by 96 human judgments of 192.")


def test_more_pairs_are_drawn_without_a_script(checked: Page, chromium: Browser, live_server: LiveServer) -> None:
    state = checked.context.storage_state()
    context = chromium.new_context(base_url=live_server.url, storage_state=state, java_script_enabled=False)
    plain = context.new_page()
    plain.goto(CHECKED_BOARD)
    plain.get_by_role("link", name="Corrected", exact=True).click()
    plain.get_by_role("button", name="more of each").first.click()
    expect(plain.get_by_role("status")).to_contain_text("Drawn for check: ")
    expect(plain.locator("main")).to_contain_text("scores are corrected when all are")
    expect(plain.get_by_role("link", name="Hand out and progress")).to_be_visible()
    context.close()
