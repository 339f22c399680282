"""The consistency check in a real browser: offered when all is judged, never needed, and its changes are told apart."""

import pytest
from playwright.sync_api import Route, expect

from assessor.models import Operation, WorkingAssignment
from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment, TaskAnswer
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def test_a_sweep_changes_labels_and_keeps_what_they_were(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        expect(ann.page.locator("#sweep-offer")).to_be_hidden()
        begin(ann)
        ann.press("3", "j", "2", "x")
        ann.type("said twice, once wrongly")
        ann.press("Enter")
        expect(ann.page.locator("#sweep section > h3")).to_have_text(["Support: 4 answers, 2 changed"])
        ann.press("]")
        expect(ann.page.locator("#sweep-title")).to_have_text("N2 of 16")
        ann.reload()
        expect(ann.page.locator("#sweep-title")).to_have_text("N2 of 16")
        ann.press("[")
        expect(ann.page.locator("#sweep section > h3")).to_have_text(
            ["Support: 4 answers", "Not: 1 answer", "Can't judge: 1 answer"]
        )
        expect(ann.page.locator("#sweep .row-first:visible")).to_have_text(["before the check: Support"] * 2)
        ann.press("Control+z")
        expect(ann.page.locator("#sweep .row:focus")).to_contain_text("Partial")
        ann.page.get_by_role("button", name="Leave the check").press("Enter")
        expect(ann.page.locator("#answer-head")).to_be_focused()
        ann.submit()
        assert ann.console_errors == []
    changed = WorkingAssignment.objects.filter(first_label__isnull=False)
    assert sorted((row.first_label, row.label) for row in changed) == [
        (AssignmentLabel.SUPPORT, AssignmentLabel.NOT_SUPPORT),
        (AssignmentLabel.SUPPORT, AssignmentLabel.PARTIAL_SUPPORT),
    ]
    assert Assignment.objects.filter(stands=True, first_label=AssignmentLabel.SUPPORT).count() == 2
    assert Operation.objects.filter(source="sweep").count() == 3


def begin(ann: JudgingDesk) -> None:
    ann.label_all("support")
    ann.page.get_by_role("button", name="Begin the consistency check").press("Enter")
    expect(ann.page.locator("#sweep-title")).to_have_text("N1 of 16")
    expect(ann.page.locator("#sweep section > h3").first).to_have_text("Support: 6 answers")


def shown_answer(ann: JudgingDesk) -> str:
    """The answer in the left pane, whose row is the one highlighted and in focus."""
    row = ann.page.locator("#sweep .row.is-current")
    expect(row).to_have_count(1)
    expect(row).to_be_focused()
    name = row.locator(".row-number").inner_text()
    expect(ann.page.locator("#answer-head")).to_have_text(f"{name} of 6")
    return name


def test_the_answer_that_is_read_is_the_one_that_keys_label(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        begin(ann)
        shown_answer(ann)
        for key, nugget in (("]", 2), ("Control+Enter", 3), ("[", 2), ("u", 3)):
            ann.press(key)
            expect(ann.page.locator("#sweep-title")).to_have_text(f"N{nugget} of 16")
            shown_answer(ann)
        first = shown_answer(ann)
        ann.press("ArrowDown")
        assert shown_answer(ann) != first
        ann.press("ArrowUp")
        assert shown_answer(ann) == first
        ann.press("3")
        expect(ann.page.locator("#sweep .row.is-current")).to_have_attribute("data-label", "not_support")
        assert shown_answer(ann) == first
        ann.reload()
        shown_answer(ann)
        ann.saved()
        changed = WorkingAssignment.objects.get(label=AssignmentLabel.NOT_SUPPORT)
        place = TaskAnswer.objects.get(task=world.assign, answer=changed.answer).position
        assert first == f"Answer {place + 1}"


def test_no_label_is_changed_before_its_answer_can_be_read(world: JudgeWorld, visit: Visit) -> None:
    held: list[Route] = []
    with visit(world.assign) as ann:
        ann.page.route("**/answers/*/", lambda route: held.append(route))  # noqa: PLW0108  (Playwright wants a function)
        begin(ann)
        loading = ann.page.locator("#answer-problem", has_text="Loading")
        for _ in range(6):
            if loading.is_visible():
                break
            ann.page.keyboard.press("ArrowDown")
        expect(loading).to_be_visible()
        ann.page.keyboard.press("3")
        expect(ann.page.locator("#line [data-text]")).to_contain_text("not loaded yet")
        assert ann.page.locator("#sweep .row[data-label=not_support]").count() == 0
        for route in held:
            route.continue_()
        ann.page.unroute("**/answers/*/")


def test_a_sweep_can_be_passed_over(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.label_all("not_support")
        ann.page.get_by_role("button", name="No check").press("Enter")
        expect(ann.page.locator("#sweep-offer")).to_be_hidden()
        ann.is_on("N1")
        ann.press("Control+Enter")
        expect(ann.page.locator("dialog[open]")).to_contain_text("consistency check")
        ann.press("Escape")
        ann.submit()
    assert Assignment.objects.filter(stands=True).count() == 96
