"""Checks 96 and 97 at the judging desks: label keys act on the highlighted row from anywhere but a field or menu."""

import pytest
from playwright.sync_api import expect

from accounts.desk_settings import DeskSettings, save_desk_settings
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LIT = "#label-rows > .row.is-current:visible"
IN_VIEW = """(row) => {
  const [box, pane] = [row.getBoundingClientRect(), row.closest("#rows").getBoundingClientRect()];
  return box.top >= pane.top - 1 && box.bottom <= pane.bottom + 1;
}"""


def lit(judge: JudgingDesk) -> str:
    row = judge.page.locator(LIT)
    expect(row).to_have_count(1)
    assert row.evaluate(IN_VIEW), f"{row.inner_text()} is highlighted and out of view"
    return row.locator(".row-number").inner_text()


def label_of(judge: JudgingDesk, name: str) -> str | None:
    row = judge.page.locator("#label-rows > .row", has=judge.page.get_by_role("heading", name=name, exact=True))
    return row.get_attribute("data-label")


def labels_the_lit_row(judge: JudgingDesk, key: str, label: str) -> None:
    name = lit(judge)
    judge.press(key)
    assert label_of(judge, name) == label, f"{key} on {name}"


def test_label_keys_act_from_wherever_the_focus_is(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign, viewport={"width": 1280, "height": 720}) as ann:
        ann.is_on("N1")
        labels_the_lit_row(ann, "1", "support")
        ann.page.locator("#answer-head").click()
        labels_the_lit_row(ann, "2", "partial_support")
        ann.page.locator("#passages").click(position={"x": 30, "y": 500})
        labels_the_lit_row(ann, "3", "not_support")
        ann.page.locator("#s-1 .sentence-text").dblclick()
        ann.press("Escape")
        select_words(ann)
        labels_the_lit_row(ann, "1", "support")
        ann.page.get_by_role("button", name="Guidelines").focus()
        labels_the_lit_row(ann, "2", "partial_support")
        ann.press("]")
        ann.answer_is(2)
        labels_the_lit_row(ann, "3", "not_support")
        scroll(ann, "#rows", 2000)
        labels_the_lit_row(ann, "1", "support")
        ann.press(*"1" * 14)
        ann.answer_is(3)
        labels_the_lit_row(ann, "3", "not_support")
        ann.press("w")
        labels_the_lit_row(ann, "2", "partial_support")
        ann.saved()
        assert len(ann.labels()) == 23
        assert ann.console_errors == []


def select_words(judge: JudgingDesk) -> None:
    box = judge.page.locator("#s-0 .sentence-text").bounding_box()
    assert box is not None
    judge.page.mouse.move(box["x"] + 8, box["y"] + 10)
    judge.page.mouse.down()
    judge.page.mouse.move(box["x"] + 90, box["y"] + 10, steps=4)
    judge.page.mouse.up()
    assert judge.page.evaluate("String(getSelection())")


def scroll(judge: JudgingDesk, selector: str, by: int) -> None:
    judge.page.locator(selector).hover()
    judge.page.mouse.wheel(0, by)
    judge.page.wait_for_timeout(300)


def test_support_keys_act_after_a_click_in_a_text(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.shown) as ann:
        places = ("#cited .cited-text", "#s-0 .sentence-text", "#answer-head", "#rows h2 >> nth=0")
        for number, (place, key) in enumerate(zip(places, "123a", strict=True), start=1):
            expect(ann.page.locator("#pair-number")).to_contain_text(f"Pair {number} of")
            ann.page.locator(place).click()
            ann.press(key)
            ann.page.wait_for_timeout(50)
        expect(ann.page.locator("#pair-number")).to_contain_text("Pair 5 of")
        ann.saved()
        assert len(ann.labels()) == 4
        ann.page.locator("#cited .cited-text").click()
        ann.press("0")
        ann.announces("no label to clear")


def test_in_fields_selects_dialogs_and_menus_keys_are_text(world: JudgeWorld, visit: Visit) -> None:
    """Check 97."""
    with visit(world.assign) as ann:
        ann.press("/")
        ann.type("123x0a")
        ann.press("Escape", "?")
        ann.press("1", "2", "3", "x")
        ann.page.locator("#key-sheet h2").click()
        ann.press("1", "2", "3", "x")
        ann.press("Escape")
        ann.page.locator("[data-narrative] > summary").click()
        ann.page.locator("[data-narrative] .desk-folded p").first.click()
        ann.press("1", "2", "3", "x")
        ann.page.locator("[data-timer] > summary").click()
        ann.page.locator("#interrupted").click()
        ann.press("1", "2", "3")
        ann.page.keyboard.press("Escape")
        ann.page.get_by_role("button", name="Guidelines").click()
        expect(ann.page.locator("#h-guidelines")).to_be_focused()
        ann.press("1", "2", "3", "x")
        assert ann.checked() == []
        assert ann.page.locator(".row-box").count() == 0


def test_switched_off_single_keys_do_nothing_anywhere(world: JudgeWorld, visit: Visit) -> None:
    save_desk_settings(world.people["ann"], DeskSettings(single_keys=False))
    with visit(world.assign) as ann:
        ann.press("1", "x")
        ann.page.locator("#passages").click(position={"x": 30, "y": 500})
        ann.press("1", "x")
        assert ann.checked() == []
        assert ann.page.locator(".row-box").count() == 0


def test_a_held_key_from_the_text_gives_one_label(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.page.locator("#answer-head").click()
        for _ in range(6):
            ann.page.keyboard.down("1")
        ann.page.keyboard.up("1")
        assert ann.checked() == ["support"]


def test_in_the_text_only_arrows_and_enter_differ(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("w", "ArrowDown")
        expect(ann.page.locator("#s-1")).to_be_focused()
        ann.press("ArrowUp", "Enter")
        ann.is_on("N1")
        ann.press("w", "1")
        ann.is_on("N2")
        ann.saved()
        assert ann.desk("desk.store.row(desk.progress.keys(desk.answers.current)[0]).sentence") == 0


def test_a_desk_that_starts_at_the_text_hears_label_keys(world: JudgeWorld, visit: Visit) -> None:
    save_desk_settings(world.people["ann"], DeskSettings(start_at_text=True))
    with visit(world.assign) as ann:
        expect(ann.page.locator("#answer-head")).to_be_focused()
        ann.press("Enter")
        ann.announces("Go to a sentence first")
        ann.press("ArrowDown")
        expect(ann.page.locator("#s-0")).to_be_focused()
        labels_the_lit_row(ann, "1", "support")
        ann.press("]")
        expect(ann.page.locator("#answer-head")).to_be_focused()
        labels_the_lit_row(ann, "3", "not_support")


def test_a_key_that_cannot_act_says_why(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("0")
        ann.announces("N1 has no label to clear")
        ann.press("ArrowUp")
        ann.announces("N1 is the first nugget")
        ann.desk("desk.root.setAttribute('data-readonly', '')")
        ann.press("1")
        ann.announces("Read-only: press u to use it here")
        assert ann.checked() == []
