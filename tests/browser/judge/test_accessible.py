"""Acceptance check 36 at the judging desks: as an auditor looks at them, in both themes and at every size."""

import pytest
from playwright.sync_api import expect

from evaluation.models import Protocol
from tests.browser.desk.test_accessible import audit
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def open_boxes(judge: JudgingDesk) -> None:
    """Search words, the list of answers, and a box with what is wrong in it."""
    judge.page.locator("#text-search").fill("answer")
    judge.page.locator("#answer-list > summary").click()
    judge.page.locator("#rows [data-keys~=row]").nth(0).focus()
    judge.press("x", "Enter")
    expect(judge.page.locator(".row-box .problem")).to_be_visible()


def test_assigning_is_accessible_in_every_way(world: JudgeWorld, visit: Visit) -> None:
    Protocol.objects.update(show_importance=True)
    with visit(world.assign) as ann:
        ann.press("w", "1", "2", "3", "x")
        ann.type("it is in a language that I do not read, or only some of it")
        ann.press("Enter", "e", "1", "Enter", "2", "Control+Enter", "[", "w")
        expect(ann.page.locator(".row-weight", has_text="◆ vital")).to_have_count(8)
        assert audit(ann.page) == []
        ann.press("Control+Enter")
        ann.page.locator("[data-act=submit]").press("Enter")
        ann.page.locator("#submit-problems").wait_for()
        open_boxes(ann)
        assert audit(ann.page) == []


def test_the_sweep_is_accessible_in_every_way(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.label_all("support")
        ann.page.get_by_role("button", name="Begin the consistency check").click()
        ann.tab_to("#sweep .row")
        ann.press("3", "j", "x", "Enter")
        assert audit(ann.page) == []


@pytest.mark.parametrize("stage", ["scratch", "shown"])
def test_judging_support_is_accessible_in_every_way(world: JudgeWorld, visit: Visit, stage: str) -> None:
    with visit(getattr(world, stage)) as judge:
        judge.press("1", "2", "k")
        open_boxes(judge)
        assert audit(judge.page) == []
