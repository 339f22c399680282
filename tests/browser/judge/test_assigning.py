"""Assigning nuggets in a real browser, with the keyboard: one answer, a whole topic, what lies beside the labels."""

import json
from collections import Counter

import pytest
from playwright.sync_api import Route, expect

from assessor.models import Operation, WorkingAssignment
from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment, TaskAnswer
from evaluation.terms import TaskState
from tests.browser.judge.judging_desk import KEYS, JudgingDesk, Visit
from tests.browser.nugget_desk import CALM
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

PATTERN = "1232113223113321"
OPS = "**/ops/"


def test_an_answer_takes_sixteen_keys_and_none_to_finish(world: JudgeWorld, visit: Visit) -> None:
    """Check 9. The server's answers are held back until all keys are pressed: no key waits for one."""
    held: list[Route] = []
    with visit(world.assign) as ann:
        ann.answer_is(1)
        ann.press("w")
        ann.saved()
        ann.page.route(OPS, lambda route: held.append(route))  # noqa: PLW0108  (Playwright wants a function)
        ann.press(*PATTERN[:-1])
        assert ann.checked() == [KEYS[key] for key in PATTERN[:-1]]
        ann.press(PATTERN[-1])
        ann.answer_is(2)
        assert ann.page.locator("[aria-busy=true], progress:visible").count() == 0
        assert ann.labels() == {}
        held[0].continue_()
        ann.page.unroute(OPS)
        ann.saved()
        given = ann.labels()
        assert Counter(given.values()) == Counter(KEYS[key] for key in PATTERN)
        first = TaskAnswer.objects.values_list("answer__public_id", flat=True).get(task=world.assign, position=0)
        assert {key.split("/")[0] for key in given} == {first}
        assert ann.progress() == "Answer 2 of 6 · 16 of 96 judged"
        assert {op.kind for op in Operation.objects.all()} == {"label", "open"}
        assert ann.console_errors == []


@pytest.mark.walk
def test_a_whole_topic_by_keyboard_to_its_submission(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("w")
        label_with_places(ann)
        cannot_judge(ann)
        ann.press(*"1" * 14)
        ann.answer_is(2)
        for number in range(3, 7):
            ann.press("w", *PATTERN)
            ann.answer_is(number)
        ann.press("w", *PATTERN)
        expect(ann.page.locator("[data-act=finish]")).to_contain_text("Review and submit")
        ann.submit()
        assert ann.console_errors == []
        assert ann.page.locator(".labels:not(:disabled)").count() == 0
    assignments = Assignment.objects.filter(stands=True, judge__user=world.people["ann"])
    assert assignments.count() == 96
    assert assignments.get(label=AssignmentLabel.CANT_JUDGE).sentence is None
    assert assignments.get(sentence=1).label == AssignmentLabel.PARTIAL_SUPPORT
    world.assign.refresh_from_db()
    assert world.assign.state == TaskState.SUBMITTED


def label_with_places(ann: JudgingDesk) -> None:
    """A sentence typed before its label goes with it; one can go there and back."""
    ann.press("e")
    ann.type("9")
    ann.press("Enter")
    expect(ann.page.locator(".row-box .problem")).to_have_text(
        "There is no sentence 9. Type a number from 1 to 2."
    )
    ann.retype("2")
    ann.press("Enter")
    ann.is_on("N1")
    expect(ann.page.locator("#s-1")).to_have_attribute("aria-current", "true")
    ann.press("2")
    ann.is_on("N2")
    ann.press("ArrowUp", "g")
    expect(ann.page.locator("#s-1")).to_be_focused()
    ann.press("b")
    ann.is_on("N1")
    ann.saved()
    row = WorkingAssignment.objects.get()
    assert (row.label, row.sentence) == (AssignmentLabel.PARTIAL_SUPPORT, 1)
    ann.press("e")
    ann.page.get_by_role("button", name="No sentence").press("Enter")
    ann.is_on("N1")
    ann.press("w", "k")
    expect(ann.page.locator("#s-0")).to_be_focused()
    ann.press("j")
    expect(ann.page.locator("#sentence-bar")).to_contain_text("Record for N1")
    ann.press("Enter")
    ann.is_on("N1")
    ann.saved()
    row.refresh_from_db()
    assert row.sentence == 1


def cannot_judge(ann: JudgingDesk) -> None:
    """`x` asks why; without a reason there is no label."""
    ann.press("j", "x", "Enter")
    expect(ann.page.locator(".row-box .problem")).to_have_text("Say why in a few words.")
    ann.press("Escape")
    ann.is_on("N2")
    ann.press("x")
    ann.type("1 2 3 a x")
    ann.press("Enter")
    ann.is_on("N3")
    expect(ann.page.locator(".row").nth(1)).to_contain_text("Can't judge: 1 2 3 a x")


def test_letters_typed_into_fields_are_only_text(world: JudgeWorld, visit: Visit) -> None:
    """Check 10 at the judging desks."""
    typed = "1 2 3 a x m"
    with visit(world.assign) as ann:
        ann.press("w", "/")
        ann.type(typed)
        expect(ann.page.locator("#text-search")).to_have_value(typed)
        ann.press("Escape", "x")
        ann.type(typed)
        assert ann.focused("e.value") == typed
        ann.press("Escape", "c")
        ann.type(typed)
        assert ann.focused("e.value") == typed
        ann.press("Escape", "e")
        ann.type("12")
        assert ann.focused("e.value") == "12"
        ann.press("Escape")
        ann.is_on("N1")
        ann.saved()
        assert ann.labels() == {}
        assert ann.checked() == []


def test_submitting_with_gaps_names_them_and_sends_nothing(world: JudgeWorld, visit: Visit) -> None:
    """Check 13 at a judging desk."""
    with visit(world.assign) as ann:
        ann.label_all("support")
        ann.press("0", "j", "0", "]", "0")
        ann.saved()
        ann.press("Control+Enter")
        expect(ann.page.get_by_role("group", name="1 without a label:")).to_be_visible()
        ann.press("Tab", "Enter")
        ann.answer_is(1)
        ann.page.locator("[data-act=submit]").press("Enter")
        problems = ann.page.locator("#submit-problems")
        expect(problems).to_be_visible(timeout=CALM)
        assert problems.locator("li").all_inner_texts() == ["Answer 1: 2 missing", "Answer 2: 1 missing"]
        ann.is_on("N1")
        assert Assignment.objects.count() == 0
        ann.press("1", "1")
        expect(problems.locator("li")).to_have_count(1)
        problems.get_by_role("link", name="Answer 2").press("Enter")
        ann.is_on("N1")
        ann.press("1")
        expect(problems).to_be_hidden()
        ann.submit()
    assert Assignment.objects.filter(stands=True).count() == 96


def test_searching_the_answer_counts_steps_and_leaves_no_marks(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("/")
        ann.type("answer")
        expect(ann.page.locator("#text-hits")).to_have_text("2 hits")
        ann.press("Enter", "Enter")
        expect(ann.page.locator("#text-hits")).to_have_text("Hit 2 of 2")
        assert ann.page.evaluate("CSS.highlights.get('passage-hit').size") == 2
        ann.page.wait_for_timeout(2200)
        ann.press("Escape")
        expect(ann.page.locator("#s-1")).to_be_focused()
        assert ann.page.evaluate("CSS.highlights.get('passage-hit').size") == 0
        ann.press("Escape")
        ann.is_on("N1")
        ann.saved()
    assert [json.dumps(op.payload) for op in Operation.objects.filter(kind="search")] == ['{"words": "answer"}']


def test_arrows_among_the_radios_choose_and_stay(world: JudgeWorld, visit: Visit) -> None:
    """What is passed over for under 300 ms is not sent; Escape leads back to the row."""
    with visit(world.assign) as ann:
        ann.press("w")
        ann.tab_to(".labels input")
        ann.press("ArrowRight", "ArrowRight")
        assert ann.focused("e.value") == "not_support"
        ann.page.wait_for_timeout(400)
        ann.press("Escape")
        ann.is_on("N1")
        ann.saved()
        assert list(ann.labels().values()) == ["not_support"]
    assert Operation.objects.filter(kind="label").count() == 1
