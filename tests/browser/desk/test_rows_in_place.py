"""Rows grow and shrink with the focus; what is pressed, and what is gone to, stays where the eye is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import WorkingNugget
from tests.browser.nugget_desk import CALM, NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

A_PRESS = 80  # milliseconds between a finger's going down and up


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path, drafts=10)


@pytest.fixture
def desk(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.post_edit) as ann:
        yield ann
        assert ann.console_errors == []


def press(desk: NuggetDesk, target: Locator) -> None:
    """Press the mouse as a person does: it goes up some time after it went down, in the same place."""
    box = target.bounding_box()
    assert box is not None
    desk.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    desk.page.mouse.down()
    desk.page.wait_for_timeout(A_PRESS)
    desk.page.mouse.up()


@pytest.mark.parametrize("label", ["is-vital", "is-okay"])
def test_a_press_on_another_row_arrives_though_the_rows_above_shrink(desk: NuggetDesk, label: str) -> None:
    desk.is_on("N1")
    press(desk, desk.page.locator(f"#n-d6 .{label}"))
    expect(desk.page.locator(f"#n-d6 .{label} input")).to_be_checked(timeout=CALM)
    expect(desk.page.locator("#n-d7")).to_have_class("row is-current")  # the work goes on
    press(desk, desk.page.locator(f"#n-d4 .{label}"))
    expect(desk.page.locator(f"#n-d4 .{label} input")).to_be_checked(timeout=CALM)


def test_the_row_after_a_very_long_one_is_in_view(desk: NuggetDesk) -> None:
    long = "a nugget that goes on and on " * 65
    assert WorkingNugget.objects.filter(task=desk.task, key="d1").update(text=long)
    desk.reload()
    desk.press("ArrowDown")
    desk.is_on("N2")
    expect(desk.page.locator("#n-d2")).to_be_in_viewport(ratio=1)
    desk.press("ArrowUp")
    expect(desk.page.get_by_role("heading", name="N1", exact=True)).to_be_in_viewport(ratio=1)


def test_what_is_in_the_way_of_submitting_shrinks_with_the_work(desk: NuggetDesk) -> None:
    desk.press("Control+Enter")
    problems = desk.page.get_by_role("group", name="Not submitted yet")
    expect(problems).to_contain_text("10 undecided", timeout=CALM)
    desk.press("1", "x")
    expect(problems).to_contain_text("8 undecided")
    expect(problems.get_by_role("link")).to_have_count(8)
    problems.get_by_role("button", name="Hide").click()
    expect(problems).to_be_hidden()
    desk.is_on("N3")
