"""Pictures name what is pointed at, by pointer and by keyboard, in both themes; without a script they are images."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.looking import axe, drawn
from tests.browser.test_axe import sign_in
from tests.organizer.world import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]
QUERY = "?x=A/A&y=A/M&unjudged=zero"


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> World:
    """The small campaign, behind the live server."""
    return make_world(tmp_path)


def test_a_mark_names_its_run_and_a_page_without_script_has_the_image(
    world: World, chromium: Browser, live_server: LiveServer
) -> None:
    context = chromium.new_context(base_url=live_server.url, color_scheme="light")
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda one: said.append(one.text) if one.type in ("error", "warning") else None)
    sign_in(page, "olga")
    address = world.pages()["agreement"] + QUERY
    page.goto(address)
    check_pointer_and_keys(page)
    light = page.locator(".drawn svg").inner_html()
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("(light) => document.querySelector('.drawn svg').innerHTML !== light", arg=light)
    drawn(page)
    assert not axe(page)
    assert not said
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
    """Point at a mark, then walk over the marks by keys."""
    note, marks = page.locator(".mark-note").first, page.locator(".drawn").first.locator("[data-said]")
    run = marks.filter(has=page.locator("xpath=self::*[starts-with(@data-said, 'beta:')]"))
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
