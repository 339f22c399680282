"""Check 110 at the judging desks: at 1280x720 twelve rows are in view; small buttons keep their names and places."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.accessibility import axe, layout
from tests.browser.judge.judging_desk import Visit
from tests.worlds.judging_desk import JudgeWorld
from tests.worlds.large import NUGGETS, make_large_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LEAST = 12
TARGET = 24  # pixels, WCAG 2.5.8
IN_VIEW = """(rows) => {
  const pane = document.getElementById("rows").getBoundingClientRect();
  const head = document.querySelector(".rows-head").getBoundingClientRect();
  return rows.map((row) => row.getBoundingClientRect())
    .filter(({ top, bottom }) => top >= head.bottom - 1 && bottom <= pane.bottom + 1).length;
}"""
PLACES = """(labels) => labels.map((one) => {
  const { x, width, height } = one.getBoundingClientRect();
  return [Math.round(x), Math.round(width), Math.round(height)];
})"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    """Eighteen nuggets, most of them longer than a line."""
    return make_large_world(tmp_path)


def test_twelve_rows_are_in_view_on_a_small_screen(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign, viewport={"width": 1280, "height": 720}) as ann:
        rows = ann.page.locator("#label-rows > .row:visible")
        expect(rows).to_have_count(NUGGETS)
        for key in "1231":
            assert rows.evaluate_all(IN_VIEW) >= LEAST
            ann.press(key)
        bars = ann.page.locator(".desk-head, .desk-actions").evaluate_all(
            "bars => bars.map((bar) => bar.offsetHeight)"
        )
        assert bars == [40, 40]
        assert ann.page.locator(".read-tools").evaluate("tools => tools.offsetHeight") <= 50
        assert layout(ann.page) == []
        assert axe(ann.page) == []


def test_label_buttons_have_names_and_keep_their_places(world: JudgeWorld, visit: Visit) -> None:
    """A pointer that goes straight down the list never meets another label."""
    with visit(world.assign, viewport={"width": 1280, "height": 720}) as ann:
        for name in ("Support", "Partial", "Not"):
            radios = ann.page.locator("#label-rows").get_by_role("radio", name=re.compile(rf"^{name}\b"))
            expect(radios).to_have_count(NUGGETS)
            places = radios.evaluate_all(PLACES)
            assert len({(x, width) for x, width, _ in places}) == 1
            assert min(min(width, height) for _, width, height in places) >= TARGET
        expect(ann.page.locator(".rows-hint")).to_contain_text("Partial")
