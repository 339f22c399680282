"""A topic whose nuggets are written by hand, with the keyboard alone, from the first key to the submitted list."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import MarkedPassage
from evaluation.models import ListedNugget, NuggetEvidence, NuggetLineage, Submission
from tests.browser.nugget_desk import CALM, NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages, and an empty list."""
    return make_desk_world(tmp_path)


@pytest.fixture
def desk(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.manual) as ann:
        yield ann
        assert ann.console_errors == []


def write(desk: NuggetDesk, *texts: str) -> None:
    for text in texts:
        desk.type(text)
        desk.press("Enter")


def to_list(desk: NuggetDesk, number: int) -> None:
    rows = desk.page.locator("#nugget-rows > .row")
    desk.tab_to(".row")
    for _ in range(rows.count()):
        desk.press("ArrowUp")
    for _ in range(number - 1):
        desk.press("ArrowDown")
    expect(rows.nth(number - 1)).to_be_focused()


def test_a_whole_topic_by_keyboard_only(desk: NuggetDesk, world: DeskWorld) -> None:
    field = desk.page.get_by_label("Text", exact=True)
    expect(field).to_be_focused()
    write(desk, "dams crack", "dams leak", "ice lifts gates and water undermines walls", "wrong", "dams age")
    expect(desk.page.locator(".composer-ask")).to_be_focused()
    expect(field).to_have_value("")
    assert desk.counts() == "5 of 20 nuggets"
    merge_split_delete_move_and_link(desk)
    read_on_and_write_from_a_sentence(desk)
    desk.saved()
    expected = [
        ("dams age", 2),
        ("dams crack and leak", 2),
        ("ice lifts gates", 1),
        ("water undermines walls", 1),
        ("from the second passage", 2),
    ]
    assert [(row.text, row.importance) for row in desk.stored()] == expected
    assert desk.texts("rejected") == ["wrong"]
    desk.submit()
    submission = Submission.objects.get(task=world.manual)
    items = list(ListedNugget.objects.filter(nugget_list=submission.nugget_list).select_related("nugget_version"))
    assert [(item.nugget_version.text, item.importance) for item in items] == expected
    wordings = [item.nugget_version_id for item in items]
    evidence = NuggetEvidence.objects.filter(nugget_version__in=wordings).order_by("pk")
    assert list(evidence.values_list("nugget_version__text", "sentence")) == [
        ("dams crack and leak", 1),
        ("from the second passage", 0),
    ]
    assert not NuggetLineage.objects.filter(child__in=wordings).exists()


def merge_split_delete_move_and_link(desk: NuggetDesk) -> None:
    to_list(desk, 1)
    desk.press("1", "m", "ArrowDown", "m", "2", "Shift+M")  # merge the first two
    desk.retype("dams crack and leak")
    desk.press("Enter")
    desk.is_on("N6")
    desk.press("1", "ArrowDown", "s")  # split the one that says two things
    desk.retype("ice lifts gates")
    desk.press("Enter")
    desk.retype("water undermines walls")
    desk.press("Enter")
    desk.is_on("N7")
    desk.press("2", "ArrowDown", "2", "ArrowDown", "x")  # delete the wrong one
    desk.is_on("N5")
    desk.press("1", "Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowUp")
    desk.is_on("N5")
    desk.press("ArrowDown", "l")
    desk.type("P1 S2")
    desk.press("Enter")
    desk.is_on("N6")


def read_on_and_write_from_a_sentence(desk: NuggetDesk) -> None:
    desk.press("g", "r")
    expect(desk.page.locator(".passage[data-number='2'] .s").first).to_be_focused(timeout=CALM)
    desk.press("n")
    expect(desk.page.get_by_label("Text", exact=True)).to_be_focused()
    expect(desk.page.locator(".composer .chip-go")).to_have_text(["P2 S1"])
    desk.type("from the second passage")
    desk.press("Enter")
    expect(desk.page.locator(".composer .chip-go")).to_have_count(0)
    expect(desk.page.locator(".composer-ask")).to_contain_text("N9 is:")
    desk.press("1")
    desk.saved()
    # A nugget rests on the first passage, so it is not one from which nothing new follows.
    assert list(MarkedPassage.objects.values_list("mark", flat=True)) == ["read"]


def test_nothing_on_the_page_speaks_of_proposals(desk: NuggetDesk) -> None:
    write(desk, "dams crack")
    desk.saved()
    body = desk.page.content().lower()
    for word in ("propos", "draft fact", "undecided", "drafting-machine", 'data-do="keep"'):
        assert word not in body, word


def test_a_nugget_without_a_passage_is_allowed_and_says_so(desk: NuggetDesk) -> None:
    write(desk, "dams crack")
    expect(desk.page.locator("#nugget-rows .row-tags")).to_contain_text("no passage")
    to_list(desk, 1)
    desk.press("1", "l")
    desk.type("p1s1")
    desk.press("Enter")
    expect(desk.page.locator("#nugget-rows .row-tags")).not_to_contain_text("no passage")
    desk.page.locator(".chip-remove").focus()
    desk.press("Enter")
    desk.is_on("N1")
    expect(desk.page.locator("#nugget-rows .row-tags")).to_contain_text("no passage")
    desk.press("Control+Enter")
    expect(desk.page.get_by_role("dialog")).to_contain_text("Without a passage (1)", timeout=CALM)


def test_shift_enter_breaks_the_line_and_an_empty_text_is_not_added(desk: NuggetDesk) -> None:
    desk.type("first line")
    desk.press("Shift+Enter")
    desk.type("second line")
    desk.press("Enter", "Enter", "Enter")  # add it, leave the question, and add nothing
    expect(desk.page.get_by_text("A nugget needs a text.")).to_be_visible()
    desk.saved()
    assert desk.texts() == ["first line\nsecond line"]


def test_enter_that_ends_the_composing_of_a_character_adds_nothing(desk: NuggetDesk) -> None:
    cdp = desk.page.context.new_cdp_session(desk.page)
    cdp.send("Input.imeSetComposition", {"text": "かわ", "selectionStart": 2, "selectionEnd": 2})
    desk.page.evaluate(
        """() => document.activeElement.dispatchEvent(
             new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, cancelable: true, isComposing: true}))"""
    )
    assert desk.shown() == []
    cdp.send("Input.insertText", {"text": "川が曲がる"})
    desk.press("Enter")
    desk.saved()
    assert desk.texts() == ["川が曲がる"]


def test_letters_typed_into_fields_are_only_text(desk: NuggetDesk) -> None:
    keys = "1 2 3 a x m"
    write(desk, keys)
    to_list(desk, 1)
    desk.press("e")
    desk.type(f" {keys}")
    desk.press("Escape")
    desk.is_on("N1")
    desk.saved()
    assert [(row.text, row.importance, row.decision) for row in desk.stored()] == [(f"{keys} {keys}", 0, "kept")]


def test_a_half_written_nugget_and_undo_survive_a_reload(desk: NuggetDesk) -> None:
    write(desk, "one", "two", "three")
    to_list(desk, 2)
    desk.press("x")
    desk.page.get_by_label("Text", exact=True).focus()
    desk.type("half writ")
    desk.page.wait_for_timeout(1000)
    desk.type("ten")
    desk.saved()
    desk.reload()
    expect(desk.page.get_by_label("Text", exact=True)).to_have_value("half written")
    assert desk.shown() == ["one", "three"]
    to_list(desk, 1)
    desk.press("Control+z")
    desk.is_on("N2")
    assert desk.shown() == ["one", "two", "three"]
    desk.saved()
    assert desk.texts() == ["one", "two", "three"]


def test_submitting_leaves_no_half_written_nugget_behind(desk: NuggetDesk) -> None:
    write(desk, "one")
    field = desk.page.get_by_label("Text", exact=True)
    field.fill("half a nugget")
    desk.press("Control+Enter")
    expect(desk.page.get_by_text("Not submitted: this is not in the list yet. Add, or empty")).to_be_visible()
    expect(field).to_be_focused()
    field.fill("")
    with desk.page.expect_request("**/review/?part"):
        desk.press("Control+Enter")


def test_the_composer_stays_in_sight_and_never_over_the_row_in_focus(desk: NuggetDesk) -> None:
    write(desk, *(f"fact number {n}" for n in range(1, 15)))
    to_list(desk, 14)
    composer = desk.page.locator(".composer").bounding_box()
    assert composer is not None
    for _ in range(13):
        desk.press("ArrowUp")
        row = desk.page.locator(".row:focus").bounding_box()
        assert row is not None
        assert row["y"] >= composer["y"] + composer["height"] - 1
    assert desk.page.locator(".composer").bounding_box() == composer
