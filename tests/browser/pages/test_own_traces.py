"""Traces of one's own system, from the first page to a leaderboard, by clicks that are counted."""

import json
import re

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect
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

OPEN, ROOM = "The library is open from nine to six.", "Groups of up to six may reserve a study room."
SHEET = f"""Question,Bot answer,Sources,Version
When is the library open?,It is open from nine to six. [1],"{json.dumps([OPEN, ROOM]).replace('"', '""')}",v41
When is the library open?,It never closes. [2],"{json.dumps([OPEN, ROOM]).replace('"', '""')}",v42
"""


def _choose(page: Page) -> None:
    file = FilePayload(name="sheet.csv", mimeType="text/csv", buffer=SHEET.encode())
    page.locator("input[type=file]").set_input_files(file)
    # The columns of the file are offered where one has to be named.
    expect(page.locator("#columns option")).to_have_text(["Question", "Bot answer", "Sources", "Version"])
    for label, column in (
        ("Or the column that names it", "Version"),
        ("Column of the question", "Question"),
        ("Column of the answer", "Bot answer"),
        ("Column of the contexts", "Sources"),
    ):
        page.get_by_label(label).fill(column)


@pytest.mark.usefixtures("simulator", "_worker")
def test_own_traces_are_on_a_leaderboard_after_twelve_clicks(chromium: Browser, live_server: LiveServer) -> None:
    make_user("root", is_superuser=True, is_staff=True)
    clicked = []
    with window(chromium, live_server) as context:
        page = context.new_page()

        def click(place: Locator) -> None:
            clicked.append(place.inner_text())
            place.click()

        sign_in(page, "root")
        click(page.get_by_role("link", name="New campaign"))
        page.get_by_label("Name", exact=True).fill("Own bot")
        expect(page.get_by_label("Short name")).to_have_value("own-bot")
        click(page.get_by_role("button", name="Make the campaign"))
        click(page.locator(".first-steps .go"))
        click(page.locator(".import-kinds").get_by_role("link", name="Traces", exact=True))
        _choose(page)
        click(page.get_by_role("button", name="Try out"))
        expect(page.locator("#attempt")).to_contain_text("Tried out.", timeout=CALM)
        expect(page.locator("#h-answers + h3")).to_have_text("When is the library open?")
        click(page.get_by_role("button", name="Load", exact=True))
        click(page.get_by_role("link", name="Grade passages"))
        click(page.get_by_role("button", name=re.compile("^Start: ")))
        expect(page.locator("#standing")).to_contain_text("Done.", timeout=4 * CALM)
        click(page.get_by_role("link", name="Make nuggets and labels"))
        click(page.get_by_role("button", name=re.compile("^Start: ")))
        expect(page.locator("#standing")).to_contain_text("Done.", timeout=4 * CALM)
        click(page.get_by_role("link", name="Back to the checklist"))
        click(page.locator(".first-steps").get_by_role("link", name="Leaderboard"))
        expect(page.locator("main table").first).to_contain_text("v42", timeout=CALM)
    assert len(clicked) <= 12, clicked
