"""Edit drafts in a window of 1280x720: twelve rows in view, bars of 40 px, and acts in one line (check 110)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import WorkingNugget
from evaluation.models import NuggetVersion
from tests.browser.nugget_desk import CALM, NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LONG = "Shells in the ribbons date the moves of the main channel, which jumped about once in a thousand years"
IN_VIEW = """() => {
  const pane = document.getElementById("rows").getBoundingClientRect();
  const head = document.querySelector(".rows-head").getBoundingClientRect().bottom;
  const boxes = [...document.querySelectorAll("#nugget-rows > .row")].map((row) => row.getBoundingClientRect());
  return boxes.filter((box) => box.top >= head - 1 && box.bottom <= Math.min(pane.bottom, innerHeight) + 1).length;
}"""
HEIGHTS = """() => [".desk-head", "#actions"].map((one) => document.querySelector(one).offsetHeight)"""


@pytest.fixture
def ann(tmp_path: Path, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    world: DeskWorld = make_desk_world(tmp_path, drafts=24)
    with desk_of(chromium, live_server, world, world.post_edit) as desk:
        for number in range(1, 25, 2):
            row = WorkingNugget.objects.get(task=desk.task, number=number)
            NuggetVersion.objects.filter(pk=row.draft_id or 0).update(text=f"{LONG} {number}")
            WorkingNugget.objects.filter(pk=row.pk).update(text=f"{LONG} {number}")
        desk.page.set_viewport_size({"width": 1280, "height": 720})
        yield desk.reload()
        assert desk.console_errors == []


def test_twelve_drafts_are_in_view_at_1280x720(ann: NuggetDesk) -> None:
    assert ann.page.evaluate(IN_VIEW) >= 12
    assert ann.page.evaluate(HEIGHTS) == [40, 40]
    for name in ("Vital", "Okay"):
        radio = ann.page.locator("#n-d9").get_by_role("radio", name=name)
        assert radio.get_attribute("value") in ("1", "2")


def test_counts_and_hints_are_not_cut(ann: NuggetDesk) -> None:
    hint = ann.page.locator(".row.is-current .is-vital kbd:visible").bounding_box()
    head = ann.page.locator(".rows-head").bounding_box()
    assert hint is not None
    assert head is not None
    assert hint["y"] >= head["y"] + head["height"]
    ann.press("1", "1", "x", "m", "ArrowDown", "m")
    expect(ann.page.locator("#merge-count")).to_have_text("2")
    assert ann.page.locator("#rows-counts").evaluate("(e) => e.scrollWidth <= e.clientWidth")


def test_rarer_acts_of_the_open_row_are_behind_more(ann: NuggetDesk) -> None:
    row = ann.page.locator(".row.is-current")
    tops = row.locator(".row-acts > button:visible").evaluate_all(
        "(all) => [...new Set(all.map((one) => Math.round(one.getBoundingClientRect().top)))]"
    )
    assert len(tops) == 1
    expect(row.locator("[data-do=split]")).to_be_hidden()
    row.get_by_role("button", name="More").click()
    row.locator("[data-do=mark]").click()
    expect(row).to_have_class("row is-current is-marked")


def test_filters_fold_into_one_line_with_the_search(ann: NuggetDesk) -> None:
    page = ann.page
    expect(page.locator("[data-filter=unread]")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    page.locator("[data-filter=unread]").click()
    expect(page.locator("[data-filter=unread]")).to_have_attribute("aria-pressed", "true")


def test_an_edited_draft_that_is_only_read_has_a_legible_text(ann: NuggetDesk) -> None:
    WorkingNugget.objects.filter(task=ann.task, number=2).update(text=f"{LONG}, they say", decision="kept")
    ann.reload()
    second = ann.page.context.new_page()
    second.set_viewport_size({"width": 1280, "height": 720})
    second.goto(ann.page.url)
    row = second.locator("#n-d2")
    expect(row.locator(".row-original")).to_be_visible(timeout=CALM)
    box = row.locator(".row-text").bounding_box()
    assert box is not None
    assert box["width"] > 200
