"""The pages of battles in a real browser: accessible, and a draw is reckoned as it is typed."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Battle, Campaign
from tests.browser.pages.test_axe import SIZES, problems_on, sign_in
from tests.reports.battles.test_battles_report import verdicts
from tests.reports.battles.worlds import load_runs
from tests.worlds.cast import make_cast
from tests.worlds.imported import load, write

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]
DRAW, FIGURES = "/campaigns/river/battles/", "/campaigns/river/reports/battles/"


def test_battles_are_drawn_and_reported(chromium: Browser, live_server: LiveServer, tmp_path: Path) -> None:
    load_runs(tmp_path, "abcd", ("t1", "t2", "t3"))
    make_cast(Campaign.objects.get())
    load("draw_battles", "--seed", "demo", "--rounds", 2)
    load("import_battles", "--by", "human", write(tmp_path, "verdicts.jsonl", verdicts()))
    page = chromium.new_page(base_url=live_server.url, viewport=SIZES["desk"])
    sign_in(page, "olga")
    assert problems_on(page, FIGURES) == []
    assert problems_on(page, f"{FIGURES}{Battle.objects.all()[0].public_id}/") == []
    assert problems_on(page, DRAW) == []
    page.get_by_label("Name", exact=True).fill("more")
    page.get_by_label("Rounds of each topic").fill("1")
    page.get_by_role("button", name="Draw 6 battles").click()
    expect(page.get_by_text("Drawn: 6 battles.")).to_be_visible()
    assert Battle.objects.count() == 18
    page.close()
