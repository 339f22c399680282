"""Acceptance check 100: an answer with labels missing is never left unasked, however often the key is pressed."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def question(judge: JudgingDesk) -> Locator:
    """The choice that is offered in the line above the action bar."""
    return judge.page.get_by_role("group", name="without a label:")


def test_five_presses_of_finish_skip_nothing_and_ask_on_screen(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.answer_is_shown(1)
        ann.press("w", "1", *["Control+Enter"] * 5)
        expect(question(ann)).to_contain_text("15 without a label:")
        expect(question(ann)).to_be_in_viewport()
        ann.answer_is_shown(1)
        expect(ann.page.get_by_role("button", name="Go to the first")).to_be_focused()
        ann.press("Enter")
        ann.is_on("N2")
        expect(question(ann)).to_be_hidden()


def test_going_on_without_labels_is_a_choice_of_its_own(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("Control+Enter", "Tab", "Enter")
        ann.answer_is_shown(2)
        expect(question(ann)).to_be_hidden()
        ann.page.get_by_role("button", name="Finish answer").click()
        ann.page.get_by_role("button", name="Go on without").click()
        ann.answer_is_shown(3)


def test_a_label_or_escape_takes_the_question_away(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("Control+Enter")
        expect(question(ann)).to_contain_text("16 without")
        ann.press("Escape")
        expect(question(ann)).to_be_hidden()
        ann.is_on("N1")
        ann.press("Control+Enter")
        ann.page.locator("#rows .row").nth(1).get_by_role("radio", name="Partial").click()
        expect(question(ann)).to_be_hidden()


def test_pairs_without_a_label_are_asked_about_as_well(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.shown) as ann:
        ann.answer_is_shown(1)
        number = ann.desk("desk.answers.answer.number")
        ann.press(*["Control+Enter"] * 5)
        expect(question(ann)).to_be_visible()
        assert ann.desk("desk.answers.answer.number") == number
        ann.press("Enter")
        assert ann.focused("e.closest('#rows') !== null")


def test_asking_to_submit_overtakes_the_question_of_one_answer(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("Control+Enter")
        expect(question(ann)).to_be_visible()
        ann.page.set_viewport_size({"width": 320, "height": 256})
        ann.page.locator("[data-act=submit]").press("Enter")
        problems = ann.page.locator("#submit-problems")
        expect(problems).to_be_visible()
        expect(question(ann)).to_be_hidden()
        problems.get_by_role("button", name="Hide").click()
        expect(problems).to_be_hidden()
