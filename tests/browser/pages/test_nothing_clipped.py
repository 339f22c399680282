"""No select cuts off the option that it shows, and no field its placeholder, on any page of organizers; jobs fit."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from exchange.demo_campaign import PASSWORD
from tests.browser.pages.every_page import PAGES, arguments, make_every_page
from tests.browser.pages.test_axe import sign_in
from tests.crawl.test_permissions import every_address, filled
from tests.worlds.campaign import make_world
from tests.worlds.jobs import make_item, make_job

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

CLIPPED = Path(__file__).with_name("clipped.js").read_text()
WIDTHS = (1440, 1024, 390)
UNFOLD = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"


def test_no_select_or_placeholder_is_cut_off(chromium: Browser, live_server: LiveServer) -> None:
    make_every_page()
    routes = every_address()
    context = chromium.new_context(base_url=live_server.url)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.get_by_label("Username or email").fill("olga")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Your account").wait_for(state="attached")
    problems, controls = [], 0
    for address in [filled(routes[name], values) for name in PAGES["olga"].split() for values in arguments(name)]:
        page.goto(address)
        page.evaluate(UNFOLD)
        controls += page.locator("select, [placeholder]").count()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            problems += [f"{address} at {width}: {problem}" for problem in page.evaluate(CLIPPED)]
    context.close()
    assert controls > 20
    assert problems == []


def test_jobs_and_their_reasons_read_at_every_width(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    llm = make_job(make_world(tmp_path))
    make_item(llm, "1")
    type(llm.job).objects.update(
        title="Make nuggets and label answers, at an invented price",
        state="paused",
        waiting_for="An organizer paused it.",
    )
    page = chromium.new_page(base_url=live_server.url)
    sign_in(page, "olga")
    page.goto("/campaigns/river/jobs/")
    reason = page.get_by_text("An organizer paused it.")
    for width in (1440, 1280, 390):
        page.set_viewport_size({"width": width, "height": 720})
        assert reason.evaluate("reason => reason.offsetHeight") < 30, width  # one line
        table = page.get_by_role("region", name="Jobs")
        assert table.evaluate("box => box.scrollWidth <= box.clientWidth"), width
    page.close()
