"""No select cuts off the option that it shows, and no field its placeholder, on any page of organizers."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from exchange.demo_campaign import PASSWORD
from tests.browser.pages.every_page import PAGES, arguments, make_every_page
from tests.crawl.test_permissions import every_address, filled

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
    for address in [filled(routes[name], one) for name in PAGES["olga"].split() for one in arguments(name)]:
        page.goto(address)
        page.evaluate(UNFOLD)
        controls += page.locator("select, [placeholder]").count()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            problems += [f"{address} at {width}: {one}" for one in page.evaluate(CLIPPED)]
    context.close()
    assert controls > 20
    assert problems == []
