"""Keys of the desk: where they act, where they never do, switched off, changed, and listed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from pytest_django.live_server_helper import LiveServer

from accounts.desk_settings import DeskSettings, save_desk_settings
from tests.browser.nugget_desk import NuggetDesk, open_desk, signed_in
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

EVERY_KEY = "1 2 3 0 a e x z m M s n l g b r u d w f c i p ? / [ ] j k"


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Ann's two tasks behind the live server."""
    return make_desk_world(tmp_path)


@pytest.fixture
def context(chromium: Browser, live_server: LiveServer, world: DeskWorld) -> Iterator[BrowserContext]:
    made = signed_in(chromium, live_server, world.client())
    yield made
    made.close()


@pytest.fixture
def desk(context: BrowserContext, world: DeskWorld) -> NuggetDesk:
    """Ann's post-editing desk, with the default keys."""
    return open_desk(context, world, world.post_edit)


def gaps(desk: NuggetDesk) -> dict[str, list[str]]:
    """Keys that no module gave a meaning, and meanings without a key."""
    found: dict[str, list[str]] = desk.page.evaluate(
        "import('/static/js/desk/keys.js').then((keys) => keys.gaps())"
    )
    return found


@pytest.mark.parametrize("by_hand", [False, True], ids=["post-edit", "manual"])
def test_every_key_of_the_sheet_does_something(context: BrowserContext, world: DeskWorld, by_hand: bool) -> None:
    desk = open_desk(context, world, world.manual if by_hand else world.post_edit)
    dead = set(gaps(desk)["dead"])
    # The fields themselves see to these: they are listed so that people find them.
    assert dead <= {"search-next", "search-previous", "search-leave", "edit-leave"}


def test_in_a_text_field_every_key_is_text(desk: NuggetDesk) -> None:
    page = desk.page
    before = desk.decisions()
    page.locator("#passage-search").focus()
    page.keyboard.type(EVERY_KEY)
    assert page.locator("#passage-search").input_value() == EVERY_KEY
    page.get_by_role("button", name="Comment").click()
    page.locator("#remark-text").focus()
    page.keyboard.type(EVERY_KEY)
    assert page.locator("#remark-text").input_value() == EVERY_KEY
    page.keyboard.press("Escape")
    assert desk.decisions() == before
    desk.first_row.focus()
    page.keyboard.press("e")
    page.keyboard.press("Control+a")
    page.keyboard.type(EVERY_KEY)
    assert desk.focused("e.value") == EVERY_KEY
    assert page.locator("dialog[open]").count() == 0
    assert desk.decisions()[1:] == before[1:]


def test_while_an_input_method_composes_no_key_acts(desk: NuggetDesk) -> None:
    before = desk.decisions()
    desk.first_row.evaluate(
        """(row) => row.dispatchEvent(new KeyboardEvent("keydown", {key: "a", isComposing: true, bubbles: true}))"""
    )
    desk.first_row.evaluate(
        """(row) => row.dispatchEvent(new KeyboardEvent("keydown", {key: "x", keyCode: 229, bubbles: true}))"""
    )
    assert desk.decisions() == before


def test_single_keys_act_on_the_highlighted_row_from_anywhere(desk: NuggetDesk) -> None:
    """Check 96: from a button, from a text that was clicked, and from nowhere."""
    page = desk.page
    page.get_by_role("button", name="Guidelines").focus()
    page.keyboard.press("x")
    page.locator("article.passage .s").first.click()
    page.keyboard.press("x")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("x")
    assert desk.decisions().count("rejected") == 3


def test_in_an_open_dialog_or_menu_single_keys_do_nothing(desk: NuggetDesk) -> None:
    """Check 97, beside the text fields."""
    before = desk.decisions()
    page = desk.page
    page.get_by_role("button", name="Keys").click()
    page.keyboard.type("axzm12")
    page.locator("#key-sheet h2").first.click()
    page.keyboard.type("axzm12")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Guidelines").click()
    expect(page.locator("#h-guidelines")).to_be_focused()
    page.keyboard.type("axzm12")
    page.keyboard.press("Escape")
    page.locator("[data-narrative] > summary").click()
    page.locator("[data-narrative] .desk-folded p").first.click()
    page.keyboard.type("axzm12")
    assert desk.decisions() == before


@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta"])
def test_a_key_with_a_modifier_is_not_the_single_key(desk: NuggetDesk, modifier: str) -> None:
    desk.first_row.focus()
    desk.first_row.evaluate(
        """(row, flag) => row.dispatchEvent(new KeyboardEvent("keydown", {key: "x", bubbles: true, [flag]: true}))""",
        {"Control": "ctrlKey", "Alt": "altKey", "Meta": "metaKey"}[modifier],
    )
    assert desk.decisions()[0] == "undecided"


def test_a_key_held_down_acts_once(desk: NuggetDesk) -> None:
    desk.first_row.focus()
    desk.page.keyboard.down("x")
    for _ in range(5):
        desk.page.keyboard.down("x")
    desk.page.keyboard.up("x")
    assert desk.decisions().count("rejected") == 1


PRESS = """(row, [key, code, shiftKey]) => row.dispatchEvent(new KeyboardEvent("keydown",
  {key, code, shiftKey, bubbles: true, cancelable: true}))"""


def pressed(desk: NuggetDesk, key: str, code: str, *, shift: bool = False) -> None:
    desk.page.locator(":focus").evaluate(PRESS, [key, code, shift])


@pytest.mark.parametrize(
    "vital",
    [
        "\u06f1 Digit1",
        "\u0661 Digit1",
        "१ Digit1",
        "ๅ Digit1",
        "\N{FULLWIDTH DIGIT ONE} Digit1",
        "ą Digit1",
        "๑ Digit2 shift",
    ],
)
def test_digits_of_other_keyboards_go_by_value_or_place(desk: NuggetDesk, vital: str) -> None:
    key, code, *shift = vital.split()
    desk.first_row.focus()
    pressed(desk, key, code, shift=bool(shift))
    expect(desk.first_row).to_have_attribute("data-decision", "kept")
    expect(desk.first_row.locator(".is-vital input")).to_be_checked()


@pytest.mark.parametrize(
    ("key", "code", "shift"),
    [
        *(("ö", "KeyX", False), ("é", "KeyA", False), ("ü", "BracketLeft", False), ("£", "Digit1", True)),
        *(("&", "Digit1", False), ("§", "Digit1", True), ("²", "Backquote", False), ("٣", "Digit3", False)),
    ],
)
def test_a_letter_or_sign_of_a_latin_keyboard_is_no_other_key(
    desk: NuggetDesk, key: str, code: str, shift: bool
) -> None:
    before = desk.decisions()
    desk.first_row.focus()
    pressed(desk, key, code, shift=shift)
    assert desk.decisions() == before
    expect(desk.first_row).to_be_focused()


def test_brackets_and_slash_go_by_place_on_other_alphabets(desk: NuggetDesk) -> None:
    desk.first_row.focus()
    pressed(desk, "ъ", "BracketRight")
    expect(desk.page.locator("article.passage .s").first).to_be_focused()
    pressed(desk, "ъ", "BracketRight")
    pressed(desk, "\u0445", "BracketLeft")
    expect(desk.page.locator("article.passage .s").first).to_be_focused()
    for key in ("ظ", "."):
        pressed(desk, key, "Slash")
        expect(desk.page.locator("#passage-search")).to_be_focused()
        desk.press("Escape")


def test_an_own_key_of_any_alphabet_does_what_it_says(context: BrowserContext, world: DeskWorld) -> None:
    own = {"flag": ("ф",), "reject": ("é",), "comment": ("Shift+Ж",), "okay": ("٩",), "mark": ("&",)}
    save_desk_settings(world.people["ann"], DeskSettings(keys=own))
    desk = open_desk(context, world, world.post_edit)
    before = desk.decisions()
    desk.first_row.focus()
    for key, code, shift in (("ф", "KeyA", False), ("Ж", "Semicolon", True)):
        pressed(desk, key, code, shift=shift)
        expect(desk.page.locator("#remark-text")).to_be_focused()
        desk.press("Escape")
    assert desk.decisions() == before
    pressed(desk, "&", "Digit1")
    expect(desk.first_row).to_have_class("row is-current is-marked")
    pressed(desk, "٩", "Digit9")
    expect(desk.first_row.locator(".is-okay input")).to_be_checked()
    second = desk.page.locator("#nugget-rows > [data-keys~=row]").nth(1)
    expect(second).to_be_focused()
    pressed(desk, "é", "KeyW")
    expect(desk.page.locator("#rejected-title")).to_contain_text("1")
    pressed(desk, "й", "KeyQ")  # nobody's
    pressed(desk, "ч", "KeyX")  # by its place `x`, which is no key any more
    assert desk.decisions().count("rejected") == 1


@pytest.mark.parametrize(
    "typed",
    [
        "P\u0661 S\u0662",
        "P\u06f1 S\u06f2",
        "p१ s२",
        "\u0661 \u0662",
        "P\N{FULLWIDTH DIGIT ONE}\N{FULLWIDTH COMMA}S\N{FULLWIDTH DIGIT TWO}",
    ],
)
def test_numbers_of_any_script_name_a_place(desk: NuggetDesk, typed: str) -> None:
    desk.first_row.focus()
    desk.press("l")
    desk.type(typed)
    desk.press("Enter")
    expect(desk.first_row.locator(".chip-go")).to_have_text("P1 S2")


def test_caps_lock_and_other_alphabets_find_the_same_keys(desk: NuggetDesk) -> None:
    desk.first_row.evaluate(
        """(row) => row.dispatchEvent(new KeyboardEvent("keydown", {key: "A", code: "KeyA", bubbles: true}))"""
    )
    assert desk.decisions()[0] == "kept"
    desk.page.locator("#nugget-rows > [data-keys~=row]").nth(1).focus()
    desk.page.locator("#nugget-rows > [data-keys~=row]").nth(1).evaluate(
        """(row) => row.dispatchEvent(new KeyboardEvent("keydown", {key: "ф", code: "KeyA", bubbles: true}))"""
    )
    assert desk.decisions()[1] == "kept"


def test_enter_on_a_button_of_a_row_presses_the_button(desk: NuggetDesk) -> None:
    desk.first_row.focus()
    desk.first_row.get_by_role("button", name="Keep").focus()
    desk.page.keyboard.press("Enter")
    assert desk.decisions()[0] == "kept"
    assert desk.page.locator("#rows textarea:focus").count() == 0


def test_undo_works_anywhere_but_in_a_field_it_is_the_field_s_own(desk: NuggetDesk) -> None:
    desk.first_row.focus()
    desk.page.keyboard.press("a")
    search = desk.page.locator("#passage-search")
    search.focus()
    desk.page.keyboard.type("river")
    desk.page.keyboard.press("Control+z")
    assert search.input_value() != "river"
    assert desk.decisions()[0] == "kept"
    desk.page.get_by_role("button", name="Guidelines").focus()
    desk.page.keyboard.press("Control+z")
    assert desk.decisions()[0] == "undecided"
    desk.page.keyboard.press("Control+Shift+z")
    assert desk.decisions()[0] == "kept"


def test_ctrl_s_saves_inside_a_field_as_well(desk: NuggetDesk) -> None:
    desk.page.locator("#passage-search").focus()
    desk.page.keyboard.press("Control+s")
    expect(desk.page.locator("#status")).to_have_text("Everything is saved")


def test_the_sheet_lists_every_key_and_closes_with_escape(desk: NuggetDesk) -> None:
    desk.first_row.focus()
    desk.page.keyboard.press("?")
    sheet = desk.page.get_by_role("dialog", name="Keys")
    for label in (
        "Keep with its own importance",
        "Merge the marked ones",
        "Search the passages",
        "Review and submit the topic",
    ):
        expect(sheet.get_by_text(label, exact=True)).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    assert desk.focused("e.matches('[data-keys~=row]')")
    desk.page.get_by_role("button", name="Keys").click()
    expect(sheet).to_be_visible()


def test_changed_keys_stand_on_the_buttons_and_in_the_sheet_and_work(
    context: BrowserContext, world: DeskWorld
) -> None:
    save_desk_settings(world.people["ann"], DeskSettings(keys={"keep": ("q",), "flag": ()}))
    desk = open_desk(context, world, world.post_edit)
    keep = desk.first_row.get_by_role("button", name="Keep")
    desk.first_row.focus()
    expect(keep).to_have_text("Keep q", use_inner_text=True)
    assert keep.get_attribute("aria-keyshortcuts") == "q"
    flag = desk.page.get_by_role("button", name="Flag")
    expect(flag).to_have_text("Flag", use_inner_text=True)
    assert flag.get_attribute("aria-keyshortcuts") is None
    desk.page.keyboard.press("a")
    desk.page.keyboard.press("f")
    assert desk.decisions()[0] == "undecided"
    assert desk.page.locator("dialog[open]").count() == 0
    desk.page.keyboard.press("q")
    assert desk.decisions()[0] == "kept"
    desk.page.keyboard.press("?")
    line = desk.page.locator("#key-sheet dl > div").filter(has_text="Keep with its own importance")
    expect(line.locator("kbd")).to_have_text(["q"])
    expect(desk.page.locator("#key-sheet").get_by_text("Flag to the organizers")).to_have_count(0)


def test_with_single_keys_off_buttons_do_everything(context: BrowserContext, world: DeskWorld) -> None:
    save_desk_settings(world.people["ann"], DeskSettings(single_keys=False))
    desk = open_desk(context, world, world.post_edit)
    page = desk.page
    desk.first_row.focus()
    page.keyboard.type("axzms12nlgbrudwfcip?/[]jk")
    assert set(desk.decisions()) == {"undecided"}
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("ArrowDown")
    assert desk.focused("e.querySelector('.row-number').textContent.trim()") == "N2"
    desk.first_row.focus()
    desk.first_row.get_by_role("button", name="Keep").click()
    assert desk.decisions()[0] == "kept"
    page.locator("#nugget-rows > [data-keys~=row]").nth(1).focus()
    page.locator("#nugget-rows > [data-keys~=row]").nth(1).get_by_role("button", name="Reject").click()
    assert desk.decisions().count("rejected") == 1
    for name, title in (("Flag", "Flag to the organizers"), ("Comment", "Comment to the organizers")):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("dialog", name=title)).to_be_visible()
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Keys").click()
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet.get_by_text("Single keys are switched off")).to_be_visible()
    expect(sheet.get_by_text("Keep with its own importance")).to_have_count(0)
    expect(sheet.get_by_text("Save now")).to_be_visible()


def test_hints_can_be_hidden_and_the_keys_still_work(context: BrowserContext, world: DeskWorld) -> None:
    save_desk_settings(world.people["ann"], DeskSettings(hints=False))
    desk = open_desk(context, world, world.post_edit)
    desk.first_row.focus()
    assert desk.page.locator("kbd[data-key]:visible").count() == 0
    desk.page.keyboard.press("a")
    assert desk.decisions()[0] == "kept"


def test_the_reading_size_is_one_s_own(context: BrowserContext, world: DeskWorld) -> None:
    save_desk_settings(world.people["ann"], DeskSettings(reading_size=20))
    desk = open_desk(context, world, world.post_edit)
    size = desk.page.locator(".passage-text").first.evaluate("(text) => getComputedStyle(text).fontSize")
    assert size == "20px"
