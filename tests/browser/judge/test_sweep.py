"""The consistency check in a real browser: offered when all is judged, never needed, and its changes are told apart."""

import pytest
from playwright.sync_api import expect

from assessor.models import Operation, WorkingAssignment
from evaluation.models import Assignment
from evaluation.terms import AssignmentLabel
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def test_a_sweep_changes_labels_and_keeps_what_they_were(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        expect(ann.page.locator("#sweep-offer")).to_be_hidden()
        begin(ann)
        ann.tab_to("#sweep .row")
        shown = ann.page.locator("#answer-head").inner_text()
        assert shown.startswith(ann.focused("e.querySelector('.row-number').textContent") + " of")
        ann.press("3", "j", "2", "x")
        ann.type("said twice, once wrongly")
        ann.press("Enter")
        ann.press("]")
        expect(ann.page.locator("#sweep-title")).to_have_text("N2 of 16")
        ann.reload()
        expect(ann.page.locator("#sweep-title")).to_have_text("N2 of 16")
        ann.press("[")
        expect(ann.page.locator("#sweep section > h3")).to_have_text(
            ["Support: 4 answers", "Not: 1 answer", "Can't judge: 1 answer"]
        )
        expect(ann.page.locator("#sweep .row-first:visible")).to_have_text(["before the sweep: Support"] * 2)
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
    """Label everything, and take the offer."""
    ann.label_all("support")
    ann.page.get_by_role("button", name="Begin the consistency check").press("Enter")
    expect(ann.page.locator("#sweep-title")).to_be_focused()
    expect(ann.page.locator("#sweep-title")).to_have_text("N1 of 16")
    expect(ann.page.locator("#sweep h3").first).to_have_text("Support: 6 answers")


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
