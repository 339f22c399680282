"""Jobs and the reasons why they wait fit at every width."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from tests.browser.pages.test_axe import sign_in
from tests.worlds.campaign import make_world
from tests.worlds.jobs import make_item, make_job

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


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
