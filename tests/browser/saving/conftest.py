"""Ann's desk in one browser or several."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from tests.assessor.desk_client import Window
from tests.browser.saving.desk_script import NewDevice, open_desk
from tests.worlds.desk import DeskWorld, make_desk_world


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path)


@pytest.fixture
def window(world: DeskWorld) -> Window:
    """Ann's task to post-edit, started; also her way to look at it past the browser."""
    return Window(world.client("ann"), world.post_edit).open()


@pytest.fixture
def device(chromium: Browser, live_server: LiveServer, window: Window) -> Iterator[NewDevice]:
    """Makes browsers of Ann's, signed in, each with its own storage."""
    made: list[BrowserContext] = []

    def new() -> BrowserContext:
        context = chromium.new_context(base_url=live_server.url)
        cookie = window.client.cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
        made.append(context)
        return context

    yield new
    for context in made:
        context.close()


@pytest.fixture
def page(device: NewDevice, window: Window) -> Page:
    return open_desk(device(), window)
