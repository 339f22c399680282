"""A topic whose nuggets are written by hand, with the keyboard alone, from the first key to the submitted list."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import MarkedPassage
from evaluation.models import ListedNugget, NuggetEvidence, NuggetLineage, Submission
from tests.browser.nugget_desk import CALM, Hands, desk_of
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages, and an empty list."""
    return make_desk_world(tmp_path)


@pytest.fixture
def hands(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[Hands]:
    """Ann at the desk."""
    with desk_of(chromium, live_server, world, world.manual) as ann:
        yield ann
        assert ann.complaints == []


def write(hands: Hands, *texts: str) -> None:
    """Write nuggets in a burst, each ended by Enter."""
    for text in texts:
        hands.type(text)
        hands.press("Enter")


def to_list(hands: Hands, number: int) -> None:
    """From the composer to a row: Tab to the list, then down."""
    rows = hands.page.locator("#nugget-rows > .row")
    hands.tab_to(".row")
    for _ in range(rows.count()):
        hands.press("ArrowUp")
    for _ in range(number - 1):
        hands.press("ArrowDown")
    expect(rows.nth(number - 1)).to_be_focused()


def test_a_whole_topic_by_keyboard_only(hands: Hands, world: DeskWorld) -> None:
    field = hands.page.get_by_label("Text", exact=True)
    expect(field).to_be_focused()
    write(hands, "dams crack", "dams leak", "ice lifts gates and water undermines walls", "wrong", "dams age")
    expect(hands.page.locator(".composer-ask")).to_be_focused()
    expect(field).to_have_value("")
    assert hands.counts() == "5 of 20 nuggets"
    merge_split_delete_move_and_link(hands)
    read_on_and_write_from_a_sentence(hands)
    hands.saved()
    expected = [
        ("dams age", 2),
        ("dams crack and leak", 2),
        ("ice lifts gates", 1),
        ("water undermines walls", 1),
        ("from the second passage", 2),
    ]
    assert [(row.text, row.importance) for row in hands.stored()] == expected
    assert hands.texts("rejected") == ["wrong"]
    hands.submit()
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


def merge_split_delete_move_and_link(hands: Hands) -> None:
    """Bring the five into shape."""
    to_list(hands, 1)
    hands.press("1", "m", "ArrowDown", "m", "2", "Shift+M")  # merge the first two
    hands.retype("dams crack and leak")
    hands.press("Enter")
    hands.is_on("N6")
    hands.press("1", "ArrowDown", "s")  # split the one that says two things
    hands.retype("ice lifts gates")
    hands.press("Enter")
    hands.retype("water undermines walls")
    hands.press("Enter")
    hands.is_on("N7")
    hands.press("2", "ArrowDown", "2", "ArrowDown", "x")  # delete the wrong one
    hands.is_on("N5")
    hands.press("1", "Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowUp")
    hands.is_on("N5")
    hands.press("ArrowDown", "l")
    hands.type("P1 S2")
    hands.press("Enter")
    hands.is_on("N6")


def read_on_and_write_from_a_sentence(hands: Hands) -> None:
    """Go to the evidence, say that its passage is done with, and write from a sentence of the next one."""
    hands.press("g", "r")
    expect(hands.page.locator(".passage[data-number='2'] h3")).to_be_focused(timeout=CALM)
    hands.press("Tab")
    expect(hands.page.locator(".passage[data-number='2'] [data-sentence='0']")).to_be_focused()
    hands.press("n")
    expect(hands.page.get_by_label("Text", exact=True)).to_be_focused()
    expect(hands.page.locator(".composer .chip-go")).to_have_text(["P2 S1"])
    hands.type("from the second passage")
    hands.press("Enter")
    expect(hands.page.locator(".composer .chip-go")).to_have_count(0)
    expect(hands.page.locator(".composer-ask")).to_contain_text("N9 is:")
    hands.press("1")
    hands.saved()
    # A nugget rests on the first passage, so it is not one from which nothing new follows.
    assert list(MarkedPassage.objects.values_list("mark", flat=True)) == ["read"]


def test_nothing_on_the_page_speaks_of_proposals(hands: Hands) -> None:
    write(hands, "dams crack")
    hands.saved()
    body = hands.page.content().lower()
    for word in ("propos", "draft fact", "undecided", "drafting-machine", 'data-do="keep"'):
        assert word not in body, word


def test_a_nugget_without_a_passage_is_allowed_and_says_so(hands: Hands) -> None:
    write(hands, "dams crack")
    expect(hands.page.locator("#nugget-rows .row-tags")).to_contain_text("no passage")
    to_list(hands, 1)
    hands.press("1", "l")
    hands.type("p1s1")
    hands.press("Enter")
    expect(hands.page.locator("#nugget-rows .row-tags")).not_to_contain_text("no passage")
    hands.page.locator(".chip-remove").focus()
    hands.press("Enter")
    hands.is_on("N1")
    expect(hands.page.locator("#nugget-rows .row-tags")).to_contain_text("no passage")
    hands.press("Control+Enter")
    expect(hands.page.get_by_role("dialog")).to_contain_text("Without a passage (1)", timeout=CALM)


def test_shift_enter_breaks_the_line_and_an_empty_text_is_not_added(hands: Hands) -> None:
    hands.type("first line")
    hands.press("Shift+Enter")
    hands.type("second line")
    hands.press("Enter", "Enter", "Enter")  # add it, leave the question, and add nothing
    expect(hands.page.get_by_text("A nugget needs a text.")).to_be_visible()
    hands.saved()
    assert hands.texts() == ["first line\nsecond line"]


def test_enter_that_ends_the_composing_of_a_character_adds_nothing(hands: Hands) -> None:
    cdp = hands.page.context.new_cdp_session(hands.page)
    cdp.send("Input.imeSetComposition", {"text": "かわ", "selectionStart": 2, "selectionEnd": 2})
    hands.page.evaluate(
        """() => document.activeElement.dispatchEvent(
             new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, cancelable: true, isComposing: true}))"""
    )
    assert hands.shown() == []
    cdp.send("Input.insertText", {"text": "川が曲がる"})
    hands.press("Enter")
    hands.saved()
    assert hands.texts() == ["川が曲がる"]


def test_letters_typed_into_fields_are_only_text(hands: Hands) -> None:
    keys = "1 2 3 a x m"
    write(hands, keys)
    to_list(hands, 1)
    hands.press("e")
    hands.type(f" {keys}")
    hands.press("Escape")
    hands.is_on("N1")
    hands.saved()
    assert [(row.text, row.importance, row.decision) for row in hands.stored()] == [(f"{keys} {keys}", 0, "kept")]


def test_a_half_written_nugget_and_undo_survive_a_reload(hands: Hands) -> None:
    write(hands, "one", "two", "three")
    to_list(hands, 2)
    hands.press("x")
    hands.page.get_by_label("Text", exact=True).focus()
    hands.type("half writ")
    hands.page.wait_for_timeout(1000)
    hands.type("ten")
    hands.saved()
    hands.reload()
    expect(hands.page.get_by_label("Text", exact=True)).to_have_value("half written")
    assert hands.shown() == ["one", "three"]
    to_list(hands, 1)
    hands.press("Control+z")
    hands.is_on("N2")
    assert hands.shown() == ["one", "two", "three"]
    hands.saved()
    assert hands.texts() == ["one", "two", "three"]


def test_the_composer_stays_in_sight_and_never_over_the_row_in_focus(hands: Hands) -> None:
    write(hands, *(f"fact number {n}" for n in range(1, 15)))
    to_list(hands, 14)
    composer = hands.page.locator(".composer").bounding_box()
    assert composer is not None
    for _ in range(13):
        hands.press("ArrowUp")
        row = hands.page.locator(".row:focus").bounding_box()
        assert row is not None
        assert row["y"] >= composer["y"] + composer["height"] - 1
    assert hands.page.locator(".composer").bounding_box() == composer
