"""Pictures name what is pointed at, by pointer and by keyboard, in both themes; without a script they are images."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Run
from tests.browser.accessibility import axe, dark_page, drawn
from tests.browser.pages.test_axe import sign_in
from tests.worlds.campaign import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]
QUERY = "?x=A/A&y=A/M&unjudged=zero"


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_a_mark_names_its_run_and_a_page_without_script_has_the_image(
    world: World, chromium: Browser, live_server: LiveServer
) -> None:
    context = chromium.new_context(base_url=live_server.url, color_scheme="light")
    page = context.new_page()
    messages: list[str] = []
    page.on(
        "console", lambda message: messages.append(message.text) if message.type in ("error", "warning") else None
    )
    sign_in(page, "olga")
    address = world.pages()["correlation"] + QUERY
    page.goto(address)
    check_pointer_and_keys(page)
    light = page.locator(".drawn svg").inner_html()
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("(light) => document.querySelector('.drawn svg').innerHTML !== light", arg=light)
    drawn(page)
    assert not axe(page)
    assert not messages
    bare = chromium.new_context(
        base_url=live_server.url, java_script_enabled=False, storage_state=context.storage_state()
    )
    plain = bare.new_page()
    plain.goto(address)
    expect(plain.locator("img.plot").first).to_be_visible()
    assert plain.locator(".drawn").count() == 0
    bare.close()
    context.close()


def check_pointer_and_keys(page: Page) -> None:
    note, marks = page.locator(".mark-note").first, page.locator(".drawn").first.locator("[data-caption]")
    run = marks.filter(has=page.locator("xpath=self::*[starts-with(@data-caption, 'beta:')]"))
    run.hover()
    expect(note).to_contain_text("beta: A/A")
    page.mouse.move(0, 0)
    expect(note).to_be_hidden()
    page.locator(".drawn").first.locator("[tabindex='0']").focus()
    first = note.inner_text()
    assert "topic" not in first
    page.keyboard.press("ArrowRight")
    expect(note).not_to_have_text(first)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == note.inner_text()
    page.keyboard.press("Home")
    expect(note).to_have_text(first)
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()


def test_paper_is_light_without_navigation_forms_or_cut_tables(
    world: World, chromium: Browser, live_server: LiveServer
) -> None:
    page = dark_page(chromium, live_server.url)
    sign_in(page, "olga")
    page.goto(world.pages()["correlation"] + QUERY)
    expect(page.locator(".drawn svg").first).to_be_visible()
    expect(page.locator("img.on-paper").first).to_be_hidden()
    page.emulate_media(media="print")
    for gone in (".shell", ".choices-form", ".drawn svg"):
        expect(page.locator(gone).first).to_be_hidden()
    page.wait_for_function("() => document.querySelector('img.on-paper')?.naturalWidth > 0")
    assert "theme=light" in (page.locator("img.on-paper").first.get_attribute("src") or "")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 27, 27)"
    cut = "[...document.querySelectorAll('.scroll')].filter((box) => getComputedStyle(box).overflow !== 'visible')"
    assert page.evaluate(f"{cut}.length") == 0
    page.context.close()


@pytest.mark.parametrize("width", [390, 1024])
def test_a_narrow_window_has_readable_pictures_and_scrolls_no_page(
    world: World, chromium: Browser, live_server: LiveServer, width: int
) -> None:
    Run.objects.filter(campaign=world.campaign, run_id="beta").update(run_id="a-long-tag-" * 5)
    context = chromium.new_context(base_url=live_server.url, viewport={"width": width, "height": 900})
    page = context.new_page()
    sign_in(page, "olga")
    for name in ("correlation", "scores", "confusion"):
        page.goto(reverse(f"reports:{name}", args=[world.campaign.slug]))
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    page.goto(world.pages()["correlation"] + QUERY)
    drawing = page.locator(".drawn svg").first
    assert drawing.evaluate("(svg) => svg.getBoundingClientRect().width") >= 540
    page.locator(".drawn").first.locator("[tabindex='0']").focus()
    page.keyboard.press("End")
    note = page.locator(".mark-note").first
    expect(note).to_be_visible()
    box = note.bounding_box()
    assert box is not None
    assert 0 <= box["x"] < width
    context.close()
