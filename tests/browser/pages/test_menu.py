"""Menu, palette and definitions of a campaign's pages in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Topic
from tests.browser.accessibility import axe
from tests.browser.pages.test_axe import SIZES, problems_on, sign_in
from tests.worlds.campaign import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LONG = "Wilhelmina Konstantinopolitanskaja-Featherstonehaugh", "von Hohenzollern-Sigmaringen"
TODAY = "/campaigns/river/today/"


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> World:
    world = make_world(tmp_path)
    world.people["olga"].first_name, world.people["olga"].last_name = LONG
    world.people["olga"].save()
    world.campaign.name = "A campaign whose name somebody made as long as they could, of eighty characters"
    world.campaign.save()
    return world


@pytest.fixture
def page(world: World, chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES["desk"])
    page = context.new_page()
    sign_in(page, "olga")
    yield page
    context.close()


@pytest.mark.parametrize("width", [1440, 1280, 1024])
def test_five_items_stand_in_a_row(page: Page, width: int) -> None:
    """Check 48."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(TODAY)
    items = page.locator(".campaign-menu > ul > li")
    expect(items).to_have_count(5)
    tops = {round(item.bounding_box()["y"]) for item in items.all()}  # type: ignore[index]  # each is on screen
    assert len(tops) == 1
    expect(page.locator(".shell > .menu > summary")).to_be_in_viewport(ratio=0.95)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_telephone_has_one_menu_button(page: Page) -> None:
    """Check 48."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(TODAY)
    quality = page.get_by_role("link", name="Quality", exact=True)
    expect(quality).to_be_hidden()
    page.get_by_role("button", name="Menu", exact=True).click()
    expect(quality).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    expect(quality).to_be_hidden()


def test_a_group_opens_by_key_and_closes_with_escape(page: Page) -> None:
    page.goto(TODAY)
    results = page.locator("summary", has_text="Results")
    results.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Leaderboard", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Battles", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(results).to_be_focused()
    expect(page.get_by_role("link", name="Rank agreement", exact=True)).to_be_hidden()


def press_find(page: Page) -> None:
    expect(page.get_by_role("button", name="Find")).to_be_enabled()  # the script that hears the key has run
    page.keyboard.press("Control+k")


def test_the_palette_finds_a_topic_in_three_strokes(page: Page, world: World) -> None:
    """Check 49."""
    page.goto(TODAY)
    topic = world.campaign.topics.first()
    assert topic is not None
    find = page.get_by_role("button", name="Find Ctrl K")
    find.focus()
    press_find(page)
    field = page.get_by_role("combobox")
    expect(field).to_be_focused()
    page.keyboard.type(topic.topic_id)
    chosen = page.get_by_role("option", selected=True)
    expect(chosen).to_contain_text(topic.topic_id)
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("Escape")
    expect(find).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type(topic.topic_id)
    expect(chosen).to_contain_text(topic.topic_id)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(re.escape(topic.public_id)))


def test_check_49_beginnings_of_words_open_river_03(page: Page, world: World) -> None:
    for number in (2, 3, 4, 31):
        Topic.objects.create(
            campaign=world.campaign, topic_id=f"river-{number:02}", text="why rivers bend", position=number + 50
        )
    page.goto(TODAY)
    page.get_by_role("link", name="Today").first.focus()
    press_find(page)
    field, chosen = page.get_by_role("combobox"), page.get_by_role("option", selected=True)
    page.keyboard.type("riv")
    expect(page.get_by_role("group", name="Topics").get_by_role("option")).to_have_count(5)
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        before = field.get_attribute("aria-activedescendant")
        page.keyboard.press(key)
        expect(chosen).to_have_count(1)
        announced = field.get_attribute("aria-activedescendant")
        assert announced != before
        assert announced == chosen.get_attribute("id")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Today").first).to_be_focused()
    press_find(page)
    page.keyboard.type("riv 03")
    expect(chosen).to_contain_text("river-03")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/topics/{Topic.objects.get(topic_id='river-03').public_id}/")


def test_the_palette_remembers_what_was_opened(page: Page) -> None:
    page.goto(TODAY)
    press_find(page)
    page.keyboard.type("quality")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Quality")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Quality", level=1)).to_be_visible()
    press_find(page)
    expect(page.get_by_role("group", name="Opened last").get_by_role("option")).to_contain_text(["Quality"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_open_palette_is_accessible(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of its two words
    page.goto(TODAY)
    press_find(page)
    page.keyboard.type("a")
    expect(page.get_by_role("option", selected=True)).to_be_visible()
    assert not axe(page)


def test_the_glossary_is_accessible(page: Page) -> None:
    assert not problems_on(page, "/glossary/")
