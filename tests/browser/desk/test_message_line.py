"""Acceptance check 99: what is announced is also seen, for four seconds or more, with its Undo by mouse and by Tab."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.nugget_desk import NuggetDesk, desk_of, stopped_clock
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

BUTTONS = """() => [...document.querySelectorAll("#actions button, #actions a")].map((one) => {
  const { x, y, width } = one.getBoundingClientRect();
  const { y: from } = document.getElementById(innerWidth > 900 ? "main" : "actions").getBoundingClientRect();
  return [one.textContent.trim(), x, y - from, width];
})"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages, and seven drafts."""
    return make_desk_world(tmp_path, drafts=7)


@pytest.fixture
def ann(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.post_edit) as desk:
        yield desk


def line(ann: NuggetDesk) -> Locator:
    return ann.page.locator("#line [data-text]")


def undo(ann: NuggetDesk) -> Locator:
    return ann.page.locator("#line [data-undo]")


def test_a_message_is_seen_for_four_to_six_seconds(ann: NuggetDesk) -> None:
    with stopped_clock(ann.page):
        ann.press("x")
        expect(line(ann)).to_have_text("N1 rejected, 6 undecided")
        ann.saved()  # by the stopped clock an answer that comes later took seconds, and that is announced too
        ann.page.clock.run_for(4000)
        expect(line(ann)).to_be_visible()
        ann.announces("N1 rejected, 6 undecided")
        ann.page.clock.run_for(2000)
        expect(line(ann)).to_be_empty()


def test_a_message_stays_while_the_pointer_or_the_focus_is_on_it(ann: NuggetDesk) -> None:
    with stopped_clock(ann.page):
        ann.press("x")
        line(ann).hover()
        ann.saved()
        ann.page.clock.run_for(20_000)
        expect(line(ann)).to_have_text("N1 rejected, 6 undecided")
        ann.page.mouse.move(5, 300)
        ann.page.clock.run_for(100)
        expect(line(ann)).to_be_empty()
        ann.press("x")
        undo(ann).focus()
        ann.saved()
        ann.page.clock.run_for(20_000)
        expect(undo(ann)).to_be_focused()
        expect(line(ann)).to_have_text("N2 rejected, 5 undecided")


def test_undo_stands_beside_the_message_of_what_can_be_undone(ann: NuggetDesk) -> None:
    ann.press("x")
    undo(ann).click()
    ann.is_on("N1")
    expect(line(ann)).to_contain_text("Undone")
    expect(undo(ann)).to_be_hidden()
    ann.saved()
    assert len(ann.texts("undecided")) == 7
    ann.press("Control+s")
    expect(line(ann)).to_have_text("Everything is saved")
    expect(undo(ann)).to_be_hidden()


def test_undo_is_reached_with_tab_and_takes_back_only_its_own_act(ann: NuggetDesk) -> None:
    ann.press("x")
    ann.tab_to("#line [data-undo]")
    ann.press("Enter")
    ann.is_on("N1")
    ann.press("x")
    ann.page.evaluate(
        """async () => {
          const { store } = await (await import("/static/js/nuggets/main.js")).desk;
          store.do("importance", { key: store.undecided()[0].key, importance: 2 });
        }"""
    )
    expect(undo(ann)).to_be_hidden()
    ann.saved()
    assert (len(ann.texts("undecided")), len(ann.texts("rejected"))) == (6, 1)


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (390, 800)], ids=str)
def test_no_message_moves_a_button(ann: NuggetDesk, size: tuple[int, int]) -> None:
    ann.page.set_viewport_size({"width": size[0], "height": size[1]})
    if size[0] < 900:
        ann.page.get_by_role("button", name="Judge", exact=True).click()
    before = ann.page.evaluate(BUTTONS)
    ann.press("Control+Enter")
    expect(line(ann)).to_contain_text("Not submitted.")
    assert ann.page.evaluate(BUTTONS) == before
    in_view = line(ann).bounding_box()
    assert in_view is not None
    assert in_view["height"] > 0
    assert in_view["y"] + in_view["height"] <= size[1]
