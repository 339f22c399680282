"""Check B19: two answers are compared by keys alone, side by side and, where there is no room, one at a time."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from evaluation.battles import BattleOrder, draw_battles
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.models import Task, Topic, Verdict
from evaluation.stages import BATTLE
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.units import Order
from evaluation.terms import BattleShow
from tests.browser.accessibility import axe
from tests.browser.desk.test_accessible import audit
from tests.browser.judge.judging_desk import JudgingDesk, Visit, judge_at
from tests.worlds.cast import write_source
from tests.worlds.judging_desk import JudgeWorld, make_judging_task

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

SMALL = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}
MOST_OF_BAR = 96  # pixels: verdicts in one line, and going on
RUNS = tuple(f"long-{number}" for number in range(1, 9))
BATTLES = 20
ROW_HEIGHTS = """() => [...document.querySelectorAll("#side-left .md-row")]
  .map((row) => row.getBoundingClientRect().height)"""
TABLE = ("| a | b |", "| --- | --- |", "| c | d |")
SCROLLED = "side => document.getElementById(`side-${side}`).scrollTop"


@pytest.fixture
def task(world: JudgeWorld, tmp_path: Path) -> Task:
    """Eight runs answer at length; five rounds of them are 20 battles, which Ann judges."""
    for number, run in enumerate(RUNS):
        sentences = [f"## Answer {number}", *(f"Rivers bend, part {part} of {number} [1]." for part in range(150))]
        answer = [{"text": text, "citations": [0]} for text in [*sentences, "- An item", *TABLE]]
        row = {"run_id": run, "topic_id": "t1", "references": ["p1"], "answer": answer}
        source = write_source(tmp_path, f"{run}.jsonl", f"{json.dumps(row)}\n")
        import_runs(campaign=world.campaign, sources=[source], options=RunOptions(group="canary-team"))
    Topic.objects.update(problem_statement="Why do rivers bend? " * 60)
    draw_battles(campaign=world.campaign, order=BattleOrder(runs=RUNS, rounds=5, topics=("t1",)))
    return make_judging_task(world.campaign, world.people["ann"], BATTLE)


def battle_is(ann: JudgingDesk, number: int) -> None:
    expect(ann.page.locator("#answer-head")).to_have_text(f"Battle {number} of {BATTLES}")


def until(ann: JudgingDesk, expression: str) -> None:
    """Wait until it is so, and until what moves stands still."""
    for _ in range(100):
        if ann.page.evaluate(expression):
            break
        ann.page.wait_for_timeout(50)
    assert ann.page.evaluate(expression)
    ann.page.wait_for_timeout(300)


def test_no_empty_row_stands_below_the_head_of_a_table(visit: Visit, task: Task) -> None:
    with visit(task, viewport=SMALL) as ann:
        head, line, row = ann.page.evaluate(ROW_HEIGHTS)
        assert line < min(head, row) / 4


def test_twenty_battles_are_judged_by_two_keys_each(visit: Visit, task: Task) -> None:
    verdicts = ["1", "3", "2", "b", "ArrowLeft", "ArrowRight", "="] * 3
    keys, places = 0, set[str]()
    with visit(task, viewport=SMALL) as ann:
        for number in range(1, BATTLES + 1):
            battle_is(ann, number)
            ann.press(verdicts[number - 1])
            places.add(str(ann.page.locator("#rows").bounding_box()))
            ann.press("Enter")
            keys += 2
        expect(ann.page.get_by_role("heading", name="Have you completed this topic?")).to_be_visible()
        ann.tab_to("dialog [data-do=submit]")
        ann.press("Enter")
        expect(ann.page.locator("body[data-submitted][data-ready]")).to_be_attached()
        assert ann.console_errors == []
    assert keys == 2 * BATTLES
    assert len(places) == 1, places
    words = {"1": 2, "ArrowLeft": 2, "2": 1, "=": 1, "3": 0, "ArrowRight": 0, "b": 3}
    labels = Verdict.objects.order_by("place").values_list("label", flat=True)
    assert list(labels) == [words[key] for key in verdicts[:BATTLES]]
    assert Verdict.objects.filter(stayed__isnull=False).count() >= BATTLES // 2
    assert Verdict.objects.filter(seconds__isnull=False).exists()


def test_the_two_answers_stand_side_by_side_and_scroll_by_themselves(visit: Visit, task: Task) -> None:
    with visit(task, viewport=SMALL) as ann:
        left, right = (ann.page.get_by_role("region", name=f"Answer on the {side}") for side in ("left", "right"))
        boxes = [side.bounding_box() for side in (left, right)]
        assert boxes[0] is not None
        assert boxes[1] is not None
        assert boxes[0]["width"] == pytest.approx(boxes[1]["width"], abs=2)
        assert boxes[0]["y"] == boxes[1]["y"]
        assert boxes[0]["height"] > 300
        bar = ann.page.get_by_role("group", name="Which answer is better?")
        left.focus()
        ann.press(*["ArrowDown"] * 5)
        until(ann, f"({SCROLLED})('left') > 50")
        assert ann.page.evaluate(SCROLLED, "right") == 0
        assert ann.progress() == f"Battle 1 of {BATTLES} · 0 of {BATTLES} judged"
        expect(bar).to_be_in_viewport(ratio=1)
        ann.press("w")
        expect(right).to_be_focused()
        ann.press("w", "3")
        expect(left).to_be_focused()
        expect(ann.page.get_by_role("radio", name="The answer on the right is better.")).to_be_checked()
        scrolled = ann.page.evaluate(SCROLLED, "left")
        ann.press("Enter")
        battle_is(ann, 2)
        assert ann.page.evaluate(SCROLLED, "left") == 0
        ann.press("[")
        battle_is(ann, 1)
        assert ann.page.evaluate(SCROLLED, "left") == scrolled


def test_enter_says_why_it_does_not_go_on(visit: Visit, task: Task) -> None:
    with visit(task, viewport=SMALL) as ann:
        ann.press("Enter")
        expect(ann.page.locator("#line")).to_contain_text("Say which answer is better first")
        battle_is(ann, 1)
        ann.press("1")
        expect(ann.page.locator("#line")).to_contain_text("Left better. Enter goes on.")
        battle_is(ann, 1)


def test_reasons_come_after_a_verdict_and_are_saved_with_it(visit: Visit, task: Task) -> None:
    with visit(task, viewport=SMALL) as ann:
        ann.press("a")
        expect(ann.page.locator("#line")).to_contain_text("say which is better first")
        ann.press("1", "a", "o", "t", "o")
        ann.saved()
        pressed = ann.page.locator(".reasons [aria-pressed=true]")
        expect(pressed).to_have_count(2)
        ann.reload()
        expect(pressed).to_have_count(2)
        expect(pressed.first).to_contain_text("Accuracy")
        ann.press("2")
        expect(pressed).to_have_count(0)
        ann.press("Control+z")
        expect(pressed).to_have_count(2)
        ann.press("0")
        expect(ann.page.locator("#rows input:checked")).to_have_count(0)


def test_a_passage_opens_below_its_sentence_where_the_set_shows_them(
    world: JudgeWorld, visit: Visit, task: Task
) -> None:
    draw_battles(
        campaign=world.campaign, order=BattleOrder("shown", rounds=1, runs=RUNS, show=BattleShow.PASSAGES)
    )
    order = Order(BATTLE, (task.topic.public_id,), "ben", battles="shown")
    receipt = hand_out(campaign=world.campaign, order=order, actor=world.people["olga"])
    shown = Task.objects.select_related("topic", "assessor", "protocol").get(public_id=receipt.tasks[0])
    with visit(shown, viewport=SMALL) as ben:
        number = ben.page.get_by_role("region", name="Answer on the right").locator("summary").first
        passage = ben.page.locator("#side-right .cited-text").first
        expect(number).to_have_text("Citation [1]")
        expect(passage).to_be_hidden()
        number.focus()
        ben.press("Enter")
        expect(passage).to_contain_text("Passage 1 speaks of water.")
        left = ben.page.get_by_role("region", name="Answer on the left").bounding_box()
        box, above = passage.bounding_box(), number.bounding_box()
        assert left
        assert box
        assert above
        assert box["x"] >= left["x"] + left["width"]
        assert box["y"] >= above["y"]
        assert axe(ben.page) == []
        ben.press("Escape")
        expect(passage).to_be_hidden()
        expect(number).to_be_focused()
        ben.press("1", "e")
        ben.saved()
        expect(ben.page.locator(".reasons [aria-pressed=true]")).to_have_text("Evidence e")
        number.focus()
        ben.press("Enter", "Escape", "w", "Enter")
        expect(ben.page.locator("#answer-head")).to_contain_text("Battle 2 of")


def test_what_cannot_be_judged_gets_a_reason(visit: Visit, task: Task) -> None:
    with visit(task, viewport=SMALL) as ann:
        ann.press("x")
        ann.type("Both are in Latin.")
        ann.press("Enter")
        expect(ann.page.locator(".row-state")).to_contain_text("Both are in Latin.")
        ann.press("Enter")
        battle_is(ann, 2)


def test_the_narrative_is_folded_and_both_answers_are_scrolled_together_and_searched(
    visit: Visit, task: Task
) -> None:
    with visit(task, viewport=SMALL) as ann:
        text = ann.page.locator(".narrative-text")
        folded = (text.bounding_box() or {"height": 0})["height"]
        assert 30 <= folded <= 60
        ann.press("q")
        assert (text.bounding_box() or {"height": 0})["height"] > 2 * folded
        ann.press("q")
        assert (text.bounding_box() or {"height": 0})["height"] == folded
        ann.press("s")
        ann.page.get_by_role("region", name="Answer on the left").focus()
        ann.press("End")
        until(ann, f"({SCROLLED})('right') > 50")
        ann.press("s")
        expect(ann.page.locator("#line")).to_contain_text("Each answer scrolls by itself")
        ann.press("/")
        ann.page.keyboard.type("item")
        expect(ann.page.locator(".read-hits")).to_have_text(re.compile(r"^1 left, 1 right"))


def test_on_a_phone_one_answer_is_shown_and_a_verdict_needs_both(visit: Visit, task: Task) -> None:
    with visit(task, viewport=PHONE) as ann:
        left, right = (ann.page.get_by_role("region", name=f"Answer on the {side}") for side in ("left", "right"))
        expect(left).to_be_visible()
        expect(right).to_be_hidden()
        bar = ann.page.get_by_role("group", name="Which answer is better?")
        expect(bar).to_be_in_viewport(ratio=1)
        verdict = ann.page.get_by_role("radio", name="The answer on the right is better.")
        verdict.click()
        expect(ann.page.locator("#line")).to_contain_text("Open the answer on the right first")
        expect(ann.page.locator("#rows input:checked")).to_have_count(0)
        ann.page.mouse.wheel(0, 900)
        until(ann, "scrollY > 500")
        scrolled = ann.page.evaluate("scrollY")
        ann.page.get_by_role("button", name="Right", exact=True).click()
        expect(right).to_be_visible()
        expect(left).to_be_hidden()
        verdict.click()
        expect(verdict).to_be_checked()
        ann.page.get_by_role("button", name="Left", exact=True).click()
        assert ann.page.evaluate("scrollY") == pytest.approx(scrolled, abs=2)
        ann.page.get_by_role("button", name="Go on").click()
        battle_is(ann, 2)


def test_on_a_phone_the_bar_is_low_and_a_notice_covers_nothing_of_it(
    world: JudgeWorld, visit: Visit, task: Task
) -> None:
    with visit(task, viewport=PHONE) as ann:
        rows = ann.page.locator("#rows")
        assert height_of(rows) <= MOST_OF_BAR
        ann.page.get_by_role("button", name="Right", exact=True).click()
        go_on = ann.page.get_by_role("button", name="Go on")
        place = go_on.bounding_box()
        ann.page.get_by_role("radio", name="The answer on the right is better.").click()
        ann.page.get_by_role("button", name="Accuracy").click()
        ann.saved()
        assert go_on.bounding_box() == place
        assert height_of(rows) <= MOST_OF_BAR + 36
        with judge_at(ann.page.context, world, task) as second:
            notice = second.page.locator("[data-notice=lease]")
            expect(notice).to_contain_text("Open in another window")
            go_on = second.page.get_by_role("button", name="Go on")
            go_on.click(trial=True)
            box, above = notice.bounding_box(), go_on.bounding_box()
            assert box
            assert above
            assert above["y"] + above["height"] <= box["y"]


def height_of(part: Locator) -> float:
    box = part.bounding_box()
    assert box
    return box["height"]


def test_it_is_accessible_in_every_way(visit: Visit, task: Task) -> None:
    with visit(task, viewport=SMALL) as ann:
        ann.press("1", "a", "w", "x", "Enter")
        expect(ann.page.locator(".row-box .problem")).to_be_visible()
        assert audit(ann.page) == []
