"""In both themes and on a narrow screen: no accessibility violation, no error, nothing sticking out."""

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize
from pytest_django.live_server_helper import LiveServer

from tests.browser.accessibility import axe, drawn
from tests.worlds.campaign import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SIZES: dict[str, ViewportSize] = {"desk": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES["desk"])
    yield context.new_page()
    context.close()


@pytest.fixture
def console(page: Page) -> list[str]:
    return console_of(page)


def console_of(page: Page) -> list[str]:
    """What the browser complains about: a broken policy, a missing file, an error in a script."""
    messages: list[str] = []
    page.on(
        "console", lambda message: messages.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: messages.append(str(error)))
    return messages


def sign_in(page: Page, name: str, password: str = "") -> None:
    """Sign in through the form; the cast's passwords are their names."""
    page.goto("/accounts/login/")
    page.get_by_label("Username or email").fill(name)
    page.get_by_label("Password").fill(password or name)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Your account").wait_for(state="attached")


def problems_on(page: Page, address: str) -> list[str]:
    """Visit an address; return what axe finds in both themes and sizes, and whether the page scrolls sideways."""
    page.goto(address)
    return problems_at_hand(page, SIZES)


def problems_at_hand(page: Page, sizes: Mapping[str, ViewportSize]) -> list[str]:
    """Return the same of the page that is open, in these sizes."""
    found = []
    address = urlsplit(page.url).path
    for (size, viewport), scheme in product(sizes.items(), SCHEMES):
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme)
        drawn(page)
        # The dark changes colours, and nothing else.
        found += [f"{address} {size} {scheme}: {problem}" for problem in axe(page, only_contrast=scheme == "dark")]
        if page.evaluate(SIDEWAYS):
            found.append(f"{address} {size}: scrolls sideways")
    page.set_viewport_size(SIZES["desk"])
    return found


def test_a_page_that_is_not_there_is_accessible(world: World, page: Page) -> None:
    sign_in(page, "ann")
    assert not problems_on(page, "/nowhere/")


def test_the_theme_is_chosen_in_the_menu_and_kept(world: World, page: Page) -> None:
    sign_in(page, "olga")
    for theme in ("Dark", "Light"):
        page.get_by_text("Your account").locator("xpath=ancestor::summary").click()
        page.get_by_label(theme).check()
        page.reload()
        assert page.locator("html").get_attribute("data-theme") == theme.lower()
        assert not problems_on(page, "/")
    page.get_by_text("Your account").locator("xpath=ancestor::summary").click()
    page.get_by_label("System").check()
    page.reload()
    assert page.locator("html").get_attribute("data-theme") is None
