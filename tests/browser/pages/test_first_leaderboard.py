"""A new campaign with the sample data, from the first page to a leaderboard, by clicks that are counted."""

import re

import pytest
from playwright.sync_api import Browser, Locator, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.nugget_desk import CALM
from tests.browser.pages.test_axe import sign_in
from tests.browser.pages.test_whole_campaign import _worker, point_at, simulator, window
from tests.worlds.cast import make_user

__all__ = ["_worker", "point_at", "simulator"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


@pytest.mark.usefixtures("simulator", "_worker")
def test_check_62_the_first_leaderboard_takes_eight_clicks(chromium: Browser, live_server: LiveServer) -> None:
    make_user("root", is_superuser=True, is_staff=True)
    clicked = []
    with window(chromium, live_server) as context:
        page = context.new_page()

        def click(place: Locator) -> None:
            clicked.append(place.inner_text())
            place.click()

        sign_in(page, "root")
        click(page.get_by_role("link", name="New campaign"))
        page.get_by_label("Name", exact=True).fill("Überblick Köln")
        expect(page.get_by_label("Short name")).to_have_value("uberblick-koln")
        page.get_by_label("Name", exact=True).fill("First try")
        expect(page.get_by_label("Short name")).to_have_value("first-try")
        click(page.locator("label[for=start-sample]"))
        click(page.get_by_role("button", name="Make the campaign"))
        expect(page.locator("h1")).to_have_text("Today")
        # Whoever follows the primary button of each page needs no other.
        click(page.locator(".first-steps .go"))
        click(page.get_by_role("button", name=re.compile("^Start: ")))
        expect(page.locator("#standing")).to_contain_text("Done.", timeout=4 * CALM)
        click(page.get_by_role("link", name="Back to the checklist"))
        click(page.locator(".first-steps").get_by_role("link", name="Leaderboard"))
        expect(page.locator("main table").first).to_contain_text("otter-rag-large", timeout=CALM)
        page.wait_for_url("**/campaigns/first-try/leaderboard/**")
    assert len(clicked) <= 8, clicked
