"""Drafts are decided about with a key each, and a key says what it does to the row it is on (checks 98)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import Operation, WorkingNugget
from tests.browser.nugget_desk import CALM, NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

DRAFTS = 24


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages and 24 drafts without importance."""
    return make_desk_world(tmp_path, drafts=DRAFTS)


@pytest.fixture
def desk(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.post_edit) as ann:
        yield ann
        assert ann.console_errors == []


def decided(desk: NuggetDesk) -> list[tuple[str, int]]:
    desk.saved()
    rows = WorkingNugget.objects.filter(task=desk.task).order_by("position")
    return list(rows.values_list("decision", "importance"))


def test_24_drafts_are_kept_with_24_keys(desk: NuggetDesk) -> None:
    keys = ["1", "2"] * (DRAFTS // 2)
    desk.press(*keys)
    assert desk.counts() == "24 kept · 0 rejected · 0 undecided"
    assert decided(desk) == [("kept", 2), ("kept", 1)] * (DRAFTS // 2)
    assert Operation.objects.filter(task=desk.task, kind="decide").count() == DRAFTS
    desk.submit()


def test_24_drafts_are_submitted_with_26_keys(desk: NuggetDesk) -> None:
    desk.press(*"1" * DRAFTS)
    desk.press("Control+Enter")
    question = desk.page.get_by_role("heading", name="Have you completed this topic?")
    expect(question).to_be_focused(timeout=CALM)
    desk.press("Control+Enter")  # once too often: it answers nothing
    expect(question).to_be_focused()
    desk.press("Enter")
    expect(desk.page.locator("body[data-submitted][data-ready]")).to_be_attached(timeout=CALM)


def test_a_then_1_completes_its_row_and_leaves_the_next(desk: NuggetDesk) -> None:
    desk.press("a")
    desk.is_on("N1")
    expect(desk.page.locator("#n-d1 .tag-ask")).to_have_text("1 vital or 2 okay?")
    desk.announces("N1 kept: 1 vital or 2 okay?")
    desk.press("1")
    desk.is_on("N2")
    assert decided(desk)[:2] == [("kept", 2), ("undecided", 0)]
    expect(desk.page.locator("#n-d1 .tag-ask")).to_have_count(0)


def test_a_keeps_what_has_an_importance_and_goes_on(desk: NuggetDesk) -> None:
    WorkingNugget.objects.filter(task=desk.task, key="d1").update(importance=1)
    desk.reload()
    desk.press("a")
    desk.is_on("N2")
    assert decided(desk)[0] == ("kept", 1)


def test_x_rejects_and_0_takes_each_decision_back(desk: NuggetDesk) -> None:
    desk.press("1", "x")
    desk.is_on("N3")
    desk.press("ArrowUp", "0")
    desk.is_on("N1")
    desk.announces("N1 undecided")
    assert decided(desk)[:3] == [("undecided", 0), ("rejected", 0), ("undecided", 0)]
    desk.press("Control+z")
    assert decided(desk)[0] == ("kept", 2)


def test_one_undo_takes_decision_and_importance_back(desk: NuggetDesk) -> None:
    desk.press("1", "Control+z")
    desk.is_on("N1")
    assert decided(desk)[0] == ("undecided", 0)


def test_the_halves_of_a_split_are_judged_in_turn(desk: NuggetDesk) -> None:
    desk.press("s")
    desk.retype("the first half")
    desk.press("Enter")
    desk.retype("the second half")
    desk.press("Enter")
    expect(desk.page.locator(".row:focus .row-text")).to_have_text("the first half", timeout=CALM)
    desk.press("1")
    expect(desk.page.locator(".row:focus .row-text")).to_have_text("the second half")
    desk.press("2")
    expect(desk.page.locator(".row:focus .row-text")).to_have_text("draft fact number 2")


def test_a_click_on_vital_does_what_its_key_does(desk: NuggetDesk) -> None:
    row = desk.page.locator("#n-d1")
    row.locator(".is-vital").first.click()
    desk.is_on("N2")
    assert decided(desk)[:2] == [("kept", 2), ("undecided", 0)]
