"""Acceptance check 108: after submitting, Enter opens the next task; where none is left the page says why."""

import pytest
from playwright.sync_api import expect

from evaluation.models import Task
from tests.browser.judge.judging_desk import Visit
from tests.browser.nugget_desk import CALM
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def test_enter_after_submitting_opens_the_next_task_or_says_why_none(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.label_all("support")
        ann.submit()
        card = ann.page.locator("#done")
        expect(card.get_by_role("heading")).to_contain_text("Submitted: 96 labels")
        expect(card).to_contain_text("why rivers bend")
        expect(ann.page.get_by_role("button", name="Start")).to_be_focused(timeout=CALM)
        ann.press("Enter")
        expect(ann.page).to_have_url(
            f"{ann.page.url.split('/desk/')[0]}/desk/{world.shown.public_id}/", timeout=CALM
        )
        ann.ready()
        assert Task.objects.get(pk=world.shown.pk).state == "in progress"
        ann.task = world.shown
        ann.label_all("full_support")
        ann.submit()
        expect(card.get_by_role("heading")).to_contain_text("pairs")
        expect(card.locator("[data-why=done]")).to_contain_text("All done.")
        ann.press("Enter")
        expect(ann.page.get_by_role("heading", name="Your tasks")).to_be_visible(timeout=CALM)


def test_a_submitted_task_that_is_opened_later_has_no_card(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch) as ben:
        ben.label_all("no_support")
        ben.submit()
        expect(ben.page.locator("#done")).to_be_visible()
        ben.reload()
        expect(ben.page.locator("#done")).to_have_count(0)
