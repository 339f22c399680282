"""Nothing shifts under whoever reads while a desk for nuggets starts."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from tests.browser.nugget_desk import LAST_WORDS, signed_in
from tests.browser.shifts import SIZES, is_still, leave_open_elsewhere, shifts_while_starting
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path, drafts=24)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["post_edit", "manual"])
def test_nothing_shifts_while_a_desk_for_nuggets_starts(
    world: DeskWorld, chromium: Browser, live_server: LiveServer, name: str, size: str
) -> None:
    task = getattr(world, name)
    client = world.client()
    client.post(f"/desk/{task.public_id}/start/")
    width, height = SIZES[size]
    context = signed_in(chromium, live_server, client, viewport={"width": width, "height": height})
    page = context.new_page()
    for is_elsewhere in (False, True):
        if is_elsewhere:
            leave_open_elsewhere(task)
        is_still(shifts_while_starting(page, f"/desk/{task.public_id}/"))
        assert page.locator("body[data-readonly]").count() == is_elsewhere
    page.goto("about:blank")
    page.wait_for_timeout(LAST_WORDS)
    context.close()
