"""The form that draws a random check, in a real browser: the preview follows each change, and Ctrl+Enter draws it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Study
from tests.browser.pages.test_axe import sign_in
from tests.worlds.study import EXPERT, make_study_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


def test_ctrl_enter_draws_what_the_preview_shows(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    make_study_world(tmp_path)
    page = chromium.new_page(base_url=live_server.url)
    sign_in(page, "olga")
    page.goto("/campaigns/river/random-checks/new/")
    preview, button = page.locator("#preview"), page.locator("#preview button")
    expect(button).to_contain_text("Draw 9 pairs")
    page.fill("[name=per_run]", "19")
    expect(preview).to_contain_text("greater than or equal to 20")
    expect(button).to_be_disabled()
    page.fill("[name=per_run]", "20")
    expect(button).to_contain_text("Draw 9 pairs")
    page.click("summary:has-text('Known labels')")
    page.check(f"text={EXPERT}")
    expect(preview).to_contain_text("beside 9 known")
    page.uncheck(f"text={EXPERT}")
    page.click("summary:has-text('Runs')")
    page.check("#id_runs_0")
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_have_text("Check 1")
    assert Study.objects.get().design["runs"] == ["alpha"]


def test_without_a_script_a_button_previews(chromium: Browser, live_server: LiveServer, tmp_path: Path) -> None:
    make_study_world(tmp_path)
    page = chromium.new_context(java_script_enabled=False, base_url=live_server.url).new_page()
    sign_in(page, "olga")
    page.goto("/campaigns/river/random-checks/new/")
    page.fill("[name=seed]", "rivers")
    page.click("summary:has-text('Runs')")
    page.check("#id_runs_0")
    page.click("button:has-text('Preview')")
    expect(page.locator("#preview button")).to_contain_text("Draw 3 pairs")
    expect(page.locator("[name=seed]")).to_have_value("rivers")
    expect(page.locator("#id_runs_0")).to_be_checked()
    assert not Study.objects.exists()
