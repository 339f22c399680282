"""Every page, in both themes and on a narrow screen: no accessibility violation, no error, nothing sticking out."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize
from pytest_django.live_server_helper import LiveServer

from tests.browser.accessibility import axe, drawn
from tests.worlds.campaign import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

OPEN_PAGES = ["/api/docs/", "/accounts/login/", "/accounts/password/reset/", "/accounts/signup/"]
OWN_PAGES = [
    "/",
    "/accounts/email/",
    "/accounts/password/change/",
    "/accounts/logout/",
    "/nowhere/",
    "/your-data/",
    *("/accounts/2fa/", "/accounts/notice/", "/accounts/tokens/"),  # the last asks for the password first
]
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
    found = []
    page.goto(address)
    for (size, viewport), scheme in product(SIZES.items(), SCHEMES):
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=scheme)
        drawn(page)
        # The dark changes colours, and nothing else.
        found += [f"{address} {size} {scheme}: {problem}" for problem in axe(page, only_contrast=scheme == "dark")]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{address} {size}: scrolls sideways")
    page.set_viewport_size(SIZES["desk"])
    return found


def test_pages_before_signing_in_are_accessible(world: World, page: Page, console: list[str]) -> None:
    problems = [problem for address in OPEN_PAGES for problem in problems_on(page, address)]
    assert not problems
    assert not console


def test_pages_of_a_campaign_are_accessible(world: World, page: Page, console: list[str]) -> None:
    sign_in(page, "olga")
    addresses = [address for name, address in world.pages().items() if name != "scatter"]
    problems = [problem for address in addresses for problem in problems_on(page, address)]
    assert not problems
    assert not console


def test_pages_of_ones_own_are_accessible(world: World, page: Page) -> None:
    sign_in(page, "ann")
    assert not [problem for address in OWN_PAGES for problem in problems_on(page, address)]


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
