"""The form that starts a job, in a real browser: the estimate follows, and Ctrl+Enter starts what is shown."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from jobs.models import Job
from tests.browser.pages.test_axe import sign_in
from tests.worlds.campaign import make_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


def test_ctrl_enter_starts_what_the_estimate_shows(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    """Checks 41, 64 and 65."""
    make_world(tmp_path)
    page = chromium.new_page(base_url=live_server.url)
    sign_in(page, "olga")
    page.goto("/campaigns/river/jobs/new/")
    page.check("#kind-support")
    expect(page.locator("#estimate")).to_contain_text("Start: 2 calls")
    expect(page.locator("[name=condition]")).to_have_count(0)
    assert "condition=" not in page.url
    page.click("summary:has-text('Limits')")
    page.fill("[name=most_calls]", "9")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/jobs/*/")
    assert Job.objects.get().llm.most_calls == 9
