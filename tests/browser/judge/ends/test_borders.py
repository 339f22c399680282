"""Both desks go over an answer's border: it is seen, and nothing behind it is labelled by a key pressed in a row."""

import pytest
from playwright.sync_api import expect

from evaluation.models import Task
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.browser.nugget_desk import CALM, stopped_clock
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

ALMOST_4_S, SOME_TIME = 3800, 400
A_LOOK_MS = 1000
A_CLICK_MS = 100
DESKS = ("assign", "scratch")
FIRST_PLACE = "#pair-sentence, #label-rows > .row:first-child .row-number"


def left_here(judge: JudgingDesk) -> int:
    """What has no label yet in the answer that is shown."""
    count = judge.desk("desk.progress.unlabelled(desk.answers.current).length")
    assert isinstance(count, int)
    return count


def first_place(judge: JudgingDesk) -> tuple[float, float]:
    box = judge.page.locator(FIRST_PLACE).first.bounding_box()
    assert box is not None
    return box["x"], box["y"]


@pytest.mark.parametrize("desk", DESKS)
def test_passing_an_answer_s_border_is_seen_for_4_s(world: JudgeWorld, visit: Visit, desk: str) -> None:
    with visit(getattr(world, desk), viewport={"width": 1280, "height": 720}) as judge:
        passed = judge.page.locator("#answer-passed")
        expect(passed).to_be_hidden()
        place = first_place(judge)
        judge.saved()  # a request under way would be given up while the clock stands
        with stopped_clock(judge.page):
            judge.press(*"1" * left_here(judge))
            judge.answer_is(2)
            expect(passed).to_have_text("Answer 2 of 6")
            expect(passed).to_be_visible()
            expect(judge.page.locator(".is-passed")).to_be_visible()
            expect(judge.page.locator("#line [data-text]")).to_contain_text("Answer 1 done")
            expect(judge.page.locator("#line [data-undo]")).to_be_visible()
            assert first_place(judge) == place
            judge.page.clock.run_for(ALMOST_4_S)
            expect(passed).to_be_visible()
            judge.page.clock.run_for(SOME_TIME)
            expect(passed).to_be_hidden()
        judge.saved()


def test_the_sentence_stays_where_it_is_behind_a_border_with_the_same_passage(
    world: JudgeWorld, visit: Visit
) -> None:
    with visit(world.scratch, viewport={"width": 1280, "height": 720}) as judge:
        place = first_place(judge)
        judge.page.evaluate(
            """() => {
                const passed = document.getElementById("answer-passed");
                passed.textContent = "Answer 12 of 20";
                passed.hidden = document.getElementById("same-passage").hidden = false;
                document.getElementById("pair-name").textContent = "Sentence 12, citation [10]";
            }"""
        )
        assert first_place(judge) == place


@pytest.mark.parametrize("desk", DESKS)
def test_what_is_pressed_in_a_row_labels_nothing_behind_the_border(
    world: JudgeWorld, visit: Visit, desk: str
) -> None:
    task: Task = getattr(world, desk)
    with visit(task) as judge:
        judge.saved()
        with stopped_clock(judge.page):
            count = left_here(judge)
            judge.press(*"1" * count)
            judge.answer_is(2)
            for key in ("1", "3", "x", "Control+Enter"):
                judge.page.keyboard.press(key)
            expect(judge.page.locator("#line [data-text]")).to_contain_text("already Answer 2 of 6: read it first")
            expect(judge.page.locator(".row-box, .desk-question")).to_have_count(0)
            judge.answer_is(2)
            assert judge.checked() == []
            judge.page.clock.run_for(A_LOOK_MS)
            judge.press("3")
            assert judge.desk("desk.progress.counts().done") == count + 1
        judge.saved()
        assert len(judge.labels()) == count + 1


def test_a_second_click_labels_nothing_behind_the_border(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press(*"1" * 15)
        ann.saved()
        with stopped_clock(ann.page):
            ann.page.locator(".row.is-current .tone-1").click()
            ann.page.clock.run_for(A_CLICK_MS)
            ann.answer_is(2)
            for row in ann.page.locator("#label-rows .row").all()[:3]:
                row.locator(".tone-3").click()
                ann.page.clock.run_for(A_CLICK_MS)
            assert ann.checked() == []
        ann.saved()
        assert len(ann.labels()) == 16


def test_what_was_passed_over_is_asked_before_the_border(world: JudgeWorld, visit: Visit) -> None:
    for task in (world.assign, world.scratch):
        with visit(task) as judge:
            while left_here(judge) == 1:
                judge.press("]")
            number = judge.desk("desk.answers.answer.number")
            judge.press("ArrowDown", *"1" * (left_here(judge) - 1))
            judge.answer_is(number)
            assert left_here(judge) == 1
            judge.press("2")
            judge.answer_is(number % 6 + 1)
            judge.saved()


def test_in_one_column_the_next_answer_is_read_first(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign, viewport={"width": 390, "height": 844}) as ann:
        ann.press("w", *"1" * 16)
        ann.answer_is_shown(2)
        expect(ann.page.locator("#answer-head")).to_be_focused(timeout=CALM)
        expect(ann.page.locator("#answer-head")).to_be_in_viewport()


def test_finishing_is_primary_once_the_answer_is_complete(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        finish = ann.page.locator("[data-act=finish]")
        ann.press(*"1" * 16)
        expect(finish).not_to_have_class("go")
        ann.press("[")
        expect(finish).to_have_class("go")
        ann.press("0")
        expect(finish).not_to_have_class("go")
