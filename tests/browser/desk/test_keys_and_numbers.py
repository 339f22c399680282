"""Keys of the nugget desks act from anywhere (96, 97), a merge loses no fact (101), and numbers stay (110)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.nugget_desk import CALM, NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, draft_of, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

DRAFTS = 8


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages and eight drafts."""
    return make_desk_world(tmp_path, drafts=DRAFTS)


@pytest.fixture
def desk(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.post_edit) as ann:
        yield ann
        assert ann.console_errors == []


def message(page: Page) -> Locator:
    """What the line above the action bar says."""
    return page.locator("#line [data-text]")


def select_words(page: Page) -> None:
    box = page.locator("article.passage .s").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 4, box["y"] + 6)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 6)
    page.mouse.up()


def test_label_keys_act_from_anywhere_but_a_field(desk: NuggetDesk) -> None:
    page = desk.page
    page.locator("article.passage .s").nth(1).click()
    desk.press("1")
    desk.is_on("N2")
    select_words(page)
    desk.press("2")
    desk.is_on("N3")
    desk.press("w", "x")
    desk.is_on("N4")
    page.mouse.move(300, 400)
    page.mouse.wheel(0, 400)
    desk.press("]", "1")
    desk.is_on("N5")
    page.get_by_role("button", name="Guidelines").focus()
    desk.press("a", "2")
    desk.is_on("N6")
    desk.saved()
    rows = desk.stored("kept", "rejected", "undecided")
    assert [(row.decision, row.importance) for row in rows[:5]] == [
        ("kept", 2),
        ("kept", 1),
        ("rejected", 0),
        ("kept", 2),
        ("kept", 1),
    ]


def test_in_the_text_arrows_and_enter_are_about_sentences(desk: NuggetDesk) -> None:
    desk.page.locator("article.passage .s").first.click()
    desk.press("ArrowDown")
    expect(desk.page.locator("article.passage .s").nth(1)).to_be_focused()
    desk.press("l")
    desk.saved()
    assert [row.key for row in desk.stored() if row.evidence] == ["d1"]


def test_a_key_that_cannot_act_says_why(desk: NuggetDesk, world: DeskWorld) -> None:
    desk.press("x")
    desk.tab_to("#rejected > summary")
    desk.press("Enter", "Tab")
    desk.is_on("N1")
    desk.press("s")
    expect(message(desk.page)).to_have_text("N1 is rejected. z restores it")
    desk.press("z", "z")
    expect(message(desk.page)).to_have_text("N1 is in the list already")
    desk.press("0")
    expect(message(desk.page)).to_have_text("N1 is undecided already")


def test_an_empty_list_says_that_there_is_no_nugget(
    world: DeskWorld, chromium: Browser, live_server: LiveServer
) -> None:
    with desk_of(chromium, live_server, world, world.manual) as ann:
        ann.press("Escape", "x")
        expect(message(ann.page)).to_contain_text("You are writing a nugget")


def merged(desk: NuggetDesk) -> Locator:
    """Open the merge of the first two drafts; return its field."""
    desk.press("m", "ArrowDown", "m", "Shift+M")
    field = desk.page.get_by_label("Text", exact=True)
    expect(field).to_be_focused()
    return field


def test_a_merge_begins_with_every_text_selected(desk: NuggetDesk) -> None:
    field = merged(desk)
    expect(field).to_have_value(f"{draft_of(1)}; {draft_of(2)}")
    assert field.evaluate("(e) => [e.selectionStart, e.selectionEnd === e.value.length]") == [0, True]
    desk.press("Enter")
    desk.is_on("N9")
    expect(message(desk.page)).to_have_text("N1 and N2 → N9")
    desk.page.locator("#line [data-undo]").click()
    desk.saved()
    assert desk.texts() == [draft_of(n) for n in range(1, DRAFTS + 1)]


def test_a_merge_into_one_source_asks_once(desk: NuggetDesk) -> None:
    field = merged(desk)
    desk.press("Alt+3")
    expect(field).to_have_value(draft_of(1))
    desk.press("Enter")
    problem = desk.page.locator(".composer > .problem")
    expect(problem).to_contain_text("N2's fact is not in it.")
    assert len(desk.shown()) == DRAFTS
    desk.press("Enter")
    desk.is_on("N9")
    desk.saved()
    assert desk.texts()[0] == draft_of(1)


def test_keeping_one_source_s_words_is_a_button(desk: NuggetDesk) -> None:
    field = merged(desk)
    desk.page.get_by_role("button", name="Keep N2's words").click()
    expect(field).to_have_value(draft_of(2))
    desk.press("Enter")
    desk.is_on("N9")


def test_alt_digit_in_a_merge_inserts_and_does_nothing_else(desk: NuggetDesk) -> None:
    field = merged(desk)
    desk.press("End", "Alt+4", "Alt+9")
    expect(field).to_have_value(f"{draft_of(1)}; {draft_of(2)} {draft_of(2)}")
    expect(desk.page.locator(".composer .importance input:checked")).to_have_count(0)


def test_what_a_key_or_a_button_inserts_is_undone_in_the_field(desk: NuggetDesk) -> None:
    field = merged(desk)
    desk.type("in words of my own")
    desk.press("Control+a")
    source = desk.page.locator(".source").nth(1)
    desk.press(source.locator("kbd").inner_text())
    expect(field).to_have_value(draft_of(2))
    desk.press("Control+z")
    expect(field).to_have_value("in words of my own")
    desk.press("End", "Alt+3")
    expect(field).to_have_value(f"in words of my own {draft_of(1)}")
    desk.press("Control+z")
    expect(field).to_have_value("in words of my own")
    for name in ("Keep N2's words", "Insert N1"):
        desk.page.get_by_role("button", name=name).click()
        expect(field).not_to_have_value("in words of my own")
        expect(field).to_be_focused()
        desk.press("Control+z")
        expect(field).to_have_value("in words of my own")
    desk.press("Enter")
    desk.is_on("N9")
    desk.saved()
    assert desk.texts()[0] == "in words of my own"


def test_what_is_inserted_is_never_cut(desk: NuggetDesk) -> None:
    field = merged(desk)
    field.fill("x" * 1999)
    desk.press("Alt+3")
    expect(field).to_have_value("x" * 1999 + f" {draft_of(1)}")
    desk.press("Enter")
    expect(desk.page.locator(".composer > .problem")).to_have_text("A nugget has at most 2000 characters.")


def shown_keys(place: Locator) -> list[str]:
    """The keys that the switch of an importance shows now."""
    return place.locator(".importance label kbd:visible").all_inner_texts()


def test_alt_1_and_alt_2_are_vital_and_okay_in_every_form(desk: NuggetDesk) -> None:
    page = desk.page
    row = page.locator("#nugget-rows > .row").first
    assert shown_keys(row) == ["1", "2"]
    desk.press("Enter")
    assert shown_keys(row) == ["Alt+1", "Alt+2"]
    expect(row.locator(".row-acts kbd:visible")).to_have_text(["Alt+W"])  # letters alone are typed
    desk.type(" indeed")
    desk.press("Alt+w")
    expect(row.locator(".weight input")).to_be_focused()
    desk.press("Escape", "Enter")
    desk.press("Alt+2")
    expect(row.locator("textarea")).to_be_focused()
    expect(row.locator(".is-okay input")).to_be_checked()
    desk.press("Alt+1", "Enter")
    desk.is_on("N1")
    expect(row.locator(".is-vital input")).to_be_checked()
    desk.press("ArrowDown", "ArrowDown", "s")
    is_set_by_alt_digits(desk, 2)
    desk.press("Escape", "n")
    is_set_by_alt_digits(desk, 1)
    desk.press("Escape")
    merged(desk)
    is_set_by_alt_digits(desk, 1)
    desk.saved()
    assert (desk.stored()[0].text, desk.stored()[0].importance) == (f"{draft_of(1)} indeed", 2)


def is_set_by_alt_digits(desk: NuggetDesk, parts: int) -> None:
    part = desk.page.locator(".composer .part").last
    expect(desk.page.locator(".composer .part")).to_have_count(parts)
    field = part.locator("textarea")
    field.focus()
    text = field.input_value()
    assert shown_keys(part) == ["Alt+1", "Alt+2"]
    desk.press("Alt+1")
    expect(part.locator(".is-vital input")).to_be_checked()
    desk.press("Alt+2")
    expect(part.locator(".is-okay input")).to_be_checked()
    expect(desk.page.locator(".composer .is-okay input:checked")).to_have_count(1)
    expect(field).to_be_focused()
    expect(field).to_have_value(text)


def numbers(desk: NuggetDesk) -> list[str]:
    return desk.page.locator("#nugget-rows > .row .row-number").all_text_contents()


def test_numbers_stay_on_screen_and_after_a_reload(desk: NuggetDesk) -> None:
    merged(desk)
    desk.type("one and two")
    desk.press("Enter")
    desk.is_on("N9")
    desk.press("1", "x", "Alt+ArrowDown")
    desk.is_on("N4")
    expected = ["N9", "N5", "N4", "N6", "N7", "N8"]
    assert numbers(desk) == expected
    desk.saved()
    desk.reload()
    assert numbers(desk) == expected
    desk.page.goto(f"/desk/{desk.task.public_id}/history/")
    expect(desk.page.get_by_text("N1 and N2 merged")).to_be_visible()
    expect(desk.page.get_by_text("N4 moved")).to_be_visible()


def test_a_list_is_written_with_enter_2_escape_and_w(
    world: DeskWorld, chromium: Browser, live_server: LiveServer
) -> None:
    """Check 109, second half."""
    with desk_of(chromium, live_server, world, world.manual) as ann:
        page = ann.page
        field = page.locator(".composer textarea")
        expect(field).to_be_focused()
        ann.type("dams fail when water runs over them")
        ann.press("Enter")
        expect(page.locator(".composer-ask")).to_contain_text("N1 is:")
        ann.press("2")
        expect(field).to_be_focused()
        ann.type("seepage washes sand out of a dam")
        ann.press("Alt+1", "Enter")
        expect(page.locator(".composer-ask")).to_be_hidden()
        ann.type("a third one, half wri")
        ann.press("Escape")
        expect(page.locator("article.passage .s:focus")).to_have_count(1)
        ann.press("ArrowDown", "l", "w")
        expect(field).to_be_focused()
        expect(field).to_have_value("a third one, half wri")
        expect(page.locator(".composer .chip-go")).to_have_text(["P1 S2"])
        ann.type("tten")
        ann.press("Enter")
        ann.type("four")  # whoever goes on typing is not stopped by the question
        expect(field).to_have_value("four")
        ann.saved()
        rows = ann.stored()
        assert [(row.text, row.importance) for row in rows] == [
            ("dams fail when water runs over them", 1),
            ("seepage washes sand out of a dam", 2),
            ("a third one, half written", 0),
        ]
        assert ann.console_errors == []


def test_alt_digit_goes_by_place_whatever_sign_is_there(
    world: DeskWorld, chromium: Browser, live_server: LiveServer
) -> None:
    with desk_of(chromium, live_server, world, world.manual) as ann:
        field = ann.page.locator(".composer textarea")
        ann.type("a fact")
        field.evaluate(
            """(e) => e.dispatchEvent(new KeyboardEvent("keydown",
                 {key: "¡", code: "Digit1", altKey: true, bubbles: true, cancelable: true}))"""
        )
        expect(ann.page.locator(".composer .is-vital input")).to_be_checked()
        expect(field).to_have_value("a fact")


def test_one_thing_at_a_time_is_linked_to(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> None:
    with desk_of(chromium, live_server, world, world.manual) as ann:
        page = ann.page
        ann.type("a fact")
        ann.press("Enter", "2")
        expect(page.locator(".row.is-current")).to_have_count(0)
        expect(page.get_by_text("Links go to: new nugget")).to_be_visible()
        page.locator("#nugget-rows .row").first.focus()
        expect(page.locator(".row.is-current")).to_have_count(1, timeout=CALM)
        expect(page.get_by_text("Links go to: new nugget")).to_be_hidden()


def test_an_error_goes_when_its_field_is_mended_or_left(
    world: DeskWorld, chromium: Browser, live_server: LiveServer
) -> None:
    with desk_of(chromium, live_server, world, world.manual) as ann:
        problem = ann.page.locator(".composer > .problem")
        ann.press("Enter")
        expect(problem).to_have_text("A nugget needs a text.")
        ann.press("Escape")
        expect(problem).to_be_hidden()
        place = ann.page.locator(".composer .link-box input")
        place.fill("P99")
        place.press("Enter")
        fault = ann.page.locator(".composer .link-box .problem")
        expect(fault).to_contain_text("There is no P99.")
        place.fill("")
        expect(fault).to_be_hidden()
