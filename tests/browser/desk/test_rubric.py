"""A rubric edited with the keyboard: weights typed and stepped, groups, what an answer must not do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser import accessibility
from tests.browser.nugget_desk import NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Four drafts with weights, in two groups."""
    return make_desk_world(tmp_path, drafts=4, weights=(5, 2, 0, -3))


@pytest.fixture
def desk(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.post_edit) as ann:
        yield ann
        assert ann.console_errors == []


def test_weights_are_typed_and_stepped(desk: NuggetDesk) -> None:
    expect(desk.page.get_by_role("heading", name="Rubric")).to_be_visible()
    assert desk.page.locator(".row-group:visible").all_inner_texts() == ["content", "form"]
    desk.press("a")
    desk.is_on("N2")
    desk.press("Alt+w")
    desk.type("4.5")
    desk.press("Enter")
    desk.is_on("N2")
    desk.announces("N2 weighs 4.5")
    desk.press("a")
    desk.is_on("N3")
    desk.press("-", "-", "+")
    desk.announces("N3 weighs -1: an answer must not do it")
    expect(desk.page.locator(".row.is-current .tag-must-not")).to_have_text("⊖ must not")
    desk.press("a", "a")
    assert desk.counts() == "4 kept · weights 9.5 · 0 rejected · 0 undecided"
    desk.saved()
    desk.reload()
    assert [row.weight for row in desk.stored()] == [5, 4.5, -1, -3]


def test_what_is_no_weight_stays_in_its_field(desk: NuggetDesk) -> None:
    desk.is_on("N1")
    desk.press("Alt+w")
    desk.type("1000")
    desk.press("Enter")
    desk.announces("A weight is a number from -100 to 100")
    assert accessibility.axe(desk.page) == []
    desk.press("Escape")
    desk.is_on("N1")
    assert [row.weight for row in desk.stored()] == [5, 2, 0, -3]


def test_a_list_by_hand_becomes_a_rubric(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> None:
    with desk_of(chromium, live_server, world, world.manual) as ann:
        weight = ann.page.locator(".composer .weight")
        expect(weight).to_be_hidden()
        ann.type("names the year")
        ann.press("Alt+w")
        ann.type("-2")
        ann.press("Enter")
        ann.announces("N1 added")
        expect(ann.page.locator(".composer textarea")).to_be_focused()
        expect(ann.page.locator(".composer-title")).to_have_text("New criterion")
        ann.type("names the place")
        ann.press("Enter")
        expect(weight.locator("input")).to_be_focused()
        ann.type("1000")
        ann.press("Enter")
        expect(ann.page.locator(".composer > .problem")).to_contain_text("A weight is a number from -100 to 100")
        assert accessibility.axe(ann.page) == []
        ann.retype("")
        ann.press("Backspace", "Enter")
        ann.saved()
        assert [row.weight for row in ann.stored()] == [-2, None]
        expect(ann.page.locator(".row", has_text="names the place")).to_contain_text("weight?")
        assert ann.counts() == "2 of 20 criteria · weights 0"
        assert ann.console_errors == []


def test_weights_by_pointer_alone(desk: NuggetDesk) -> None:
    row = desk.page.locator("#nugget-rows > .row").nth(1)
    row.locator(".row-text").click()
    row.get_by_role("button", name="weight one more").click()
    desk.announces("N2 weighs 3")
    row.get_by_role("textbox", name="Weight of N2").fill("4")
    row.get_by_role("button", name="weight one less").click()
    row.locator(".row-text").click()
    desk.announces("N2 weighs 3")
    row.locator("[data-do=split]").click()
    expect(desk.page.locator(".composer .weight input")).to_have_count(2)
    desk.page.locator(".composer .weight [data-step=up]").last.click()
    desk.page.locator(".composer .go").click()
    desk.saved()
    assert [row.weight for row in desk.stored()] == [5, 3, 4, 0, -3]


def test_criteria_of_a_group_stand_under_one_heading(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    groups = ("content", "form", "content", "form")
    world = make_desk_world(tmp_path, drafts=4, weights=(5, 2, 1, -3), groups=groups)
    with desk_of(chromium, live_server, world, world.post_edit) as ann:
        heads, numbers = ann.page.locator(".row-group:visible"), ann.page.locator("#nugget-rows .row-number")
        assert heads.all_inner_texts() == ["content", "form"]
        assert numbers.all_inner_texts() == ["N1", "N3", "N2", "N4"]
        ann.press("a")
        ann.is_on("N3")
        ann.press("Alt+ArrowDown")
        ann.announces("N3 is last already")
        ann.press("ArrowUp", "Alt+ArrowDown")
        ann.announces("N1 moved down")
        assert numbers.all_inner_texts() == ["N3", "N1", "N2", "N4"]
        ann.press("Alt+ArrowUp", "x")
        ann.is_on("N3")
        assert heads.all_inner_texts() == ["content", "form"]
        assert numbers.all_inner_texts() == ["N3", "N2", "N4"]
        ann.saved()
        assert [row.text[-1] for row in ann.stored("kept", "undecided", "rejected")] == ["2", "1", "3", "4"]
        assert ann.console_errors == []
