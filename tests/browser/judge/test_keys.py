"""Single keys at the judging desks: switched off, changed, never alone: a button does each act (checks 39 and 40)."""

import pytest
from playwright.sync_api import expect

from accounts.desk_settings import DeskSettings, save_desk_settings
from assessor.keymap import keymap_json
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

CHORDS = {
    "finish": "[data-act=finish]",
    "hit-previous": "[data-do=hit-previous]",
    "undo": "[data-act=undo]",
    "redo": "[data-act=redo]",
    "save": "#actions [data-act=leave]",  # saves, and leaves; all else is saved by itself
}
# Visible words that the accessible name lacks. Hints of keys are no words of a name.
UNNAMED = """() => {
  const words = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}' ]/gu, " ").replace(/\\s+/g, " ").trim();
  const seen = [...document.querySelectorAll("button, summary, a[href]")].filter((one) => one.checkVisibility());
  return seen.map((one) => {
    const copy = one.cloneNode(true);
    for (const part of copy.querySelectorAll("kbd, .visually-hidden, [aria-hidden=true]")) part.remove();
    const label = one.getAttribute("aria-label");
    return label && !words(label).includes(words(copy.textContent)) ? `${label}: ${copy.textContent}` : null;
  }).filter(Boolean);
}"""


def press_all(judge: JudgingDesk, *names: str) -> None:
    for name in names:
        judge.page.locator(".row.is-current, #pair").get_by_role("button", name=name).first.press("Enter")


def test_without_single_keys_buttons_and_radios_do_everything(world: JudgeWorld, visit: Visit) -> None:
    save_desk_settings(world.people["ann"], DeskSettings(single_keys=False, move_on=False))
    with visit(world.assign) as ann:
        ann.page.locator(".row").first.focus()
        ann.press("1", "x", "u", "]")
        assert ann.checked() == []
        ann.answer_is_shown(1)
        assert ann.page.locator("kbd[data-key=label-1]:visible").count() == 0
        ann.tab_to(".row:focus-within input")
        ann.press("Space")
        assert ann.checked() == ["support"]
        press_all(ann, "Where in the answer")
        ann.type("1")
        ann.press("Enter")
        ann.press("ArrowDown")
        ann.is_on("N2")
        press_all(ann, "Can't judge")
        ann.type("no idea")
        ann.press("Enter")
        ann.is_on("N2")
        press_all(ann, "Clear")
        go_about(ann)
        ann.saved()
        assert list(ann.labels().values()) == ["support"]
        assert ann.console_errors == []


def go_about(ann: JudgingDesk) -> None:
    ann.page.get_by_role("button", name="Next answer").press("Enter")
    ann.answer_is(2)
    ann.page.locator("#answer-list > summary").press("Enter")
    assert ann.page.evaluate(UNNAMED) == []
    ann.page.get_by_role("button", name="Answer 5: not opened").press("Enter")
    ann.answer_is(5)
    ann.page.get_by_role("button", name="Next unjudged").press("Enter")
    ann.is_on("N1")
    ann.answer_is_shown(5)
    ann.page.get_by_role("button", name="Finish answer").press("Enter")
    ann.page.get_by_role("button", name="Go to the first").press("Enter")
    ann.is_on("N1")


def test_support_without_single_keys(world: JudgeWorld, visit: Visit) -> None:
    save_desk_settings(world.people["ann"], DeskSettings(single_keys=False))
    with visit(world.shown) as ann:
        ann.press("a", "1")
        press_all(ann, "Accept")
        expect(ann.page.locator("#pair-number")).to_contain_text("Pair 2 of")
        ann.is_read()
        ann.page.locator("#pair .tone-2 input").click()
        expect(ann.page.locator("#pair-number")).to_contain_text("Pair 3 of")
        press_all(ann, "Previous pair", "Clear", "Next pair")
        assert ann.page.evaluate(UNNAMED) == []
        ann.saved()
        assert len(ann.labels()) == 1
        assert ann.console_errors == []


def test_changed_keys_stand_on_the_buttons_and_in_the_sheet_and_work(world: JudgeWorld, visit: Visit) -> None:
    own = DeskSettings(keys={"label-1": ("q",), "cant-judge": (), "finish": ("Ctrl+Shift+Enter",)})
    save_desk_settings(world.people["ann"], own)
    with visit(world.assign) as ann:
        ann.press("w", "1", "q")
        assert ann.checked() == ["support"]
        ann.is_on("N2")
        hint = ann.page.locator(".row.is-current .tone-1 kbd")
        assert hint.inner_text() == "q"
        assert ann.page.locator(".row.is-current .tone-1 input").get_attribute("aria-keyshortcuts") == "q"
        ann.press("?")
        sheet = ann.page.locator("#key-sheet")
        expect(sheet.locator("div", has_text="Support").locator("kbd", has_text="q")).to_have_count(1)
        expect(sheet).not_to_contain_text("Can't judge, with a reason")
        ann.press("Escape", "Control+Shift+Enter")
        expect(ann.page.get_by_role("group", name="15 without a label:")).to_be_visible()


@pytest.mark.parametrize(("digit", "typed"), [("٢", "S٢"), ("۲", "۲"), ("\N{FULLWIDTH DIGIT TWO}", "s २")])
def test_digits_of_any_script_label_and_name_a_sentence(
    world: JudgeWorld, visit: Visit, digit: str, typed: str
) -> None:
    press = """([key, code]) => document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", {key, code, bubbles: true, cancelable: true}))"""
    with visit(world.assign) as ann:
        ann.press("e")
        ann.type(typed)
        ann.press("Enter")
        expect(ann.page.locator(".row.is-current .row-place")).to_have_text("S2")
        ann.page.evaluate(press, [digit, "Digit2"])
        ann.is_on("N2")
        assert ann.checked() == ["partial_support"]


def test_every_key_of_the_page_does_something(world: JudgeWorld, visit: Visit) -> None:
    for task in (world.assign, world.scratch, world.shown):
        with visit(task) as judge:
            assert judge.desk("desk.keys.gaps().dead") == []


def test_no_act_needs_two_keys_at_once(world: JudgeWorld, visit: Visit) -> None:
    """Check 40: whatever has only keys pressed together has a button, too."""
    of_support = {"place-previous": "[data-do=place-previous]"}
    for task, chords in ((world.assign, CHORDS), (world.shown, CHORDS | of_support)):
        chorded = {
            action["id"]
            for action in keymap_json(DeskSettings(), task.stage)["actions"]
            if action["keys"] and all("+" in key for key in action["keys"])
        }
        assert chorded == chords.keys()
        with visit(task) as judge:
            judge.page.locator("#text-search").fill("river")  # the steps from hit to hit come with the word
            for selector in chords.values():
                assert judge.page.locator(selector).first.is_visible(), selector


def test_labels_are_told_apart_without_colour(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("w", "1", "2", "3")
        ann.page.emulate_media(forced_colors="active")
        chosen = ann.page.locator(".labels label:has(:checked)")
        assert chosen.evaluate_all("all => all.map((one) => getComputedStyle(one).borderTopWidth)") == ["3px"] * 3
        shapes = ann.page.locator(".row").first.locator(".labels .glyph").all_inner_texts()
        assert shapes == ["●", "◐", "○"]


def test_after_a_click_beside_the_rows_keys_go_on_where_work_is(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.page.locator("#h-labels").click()
        ann.is_on("N1")
        ann.press("1")
        assert ann.checked() == ["support"]
    with visit(world.scratch) as ann:
        ann.page.locator("#rows h2").first.click()
        ann.press("1")
        expect(ann.page.locator("#pair-number")).to_contain_text("Pair 2 of")
