"""The desk of a stage that has none of its own: one question about each answer, by keyboard to the submission."""

import pytest
from playwright.sync_api import expect

from evaluation.models import Judgment
from evaluation.stages import STAGES
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.units import Order
from tests.browser.judge.judging_desk import Visit
from tests.toy_stage.stage import POLITE
from tests.worlds.judging import current_task
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def test_answers_are_judged_by_keys_to_the_submission(
    world: JudgeWorld, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STAGES, POLITE, POLITE)
    order = Order(POLITE, (world.assign.topic.public_id,), "ann")
    [task] = hand_out(campaign=world.campaign, order=order, actor=world.people["olga"]).tasks
    with visit(current_task(task)) as ann:
        expect(ann.page.locator("#h-labels")).to_have_text("Is the answer polite?")
        assert ann.page.locator("#sentence-bar, [data-do=place]").count() == 0
        ann.press("w", "1")
        ann.answer_is(2)
        assert ann.progress() == "Answer 2 of 6 · 1 of 6 judged"
        ann.press(*"21111")
        expect(ann.page.locator("[data-act=finish]")).to_contain_text("Review and submit")
        ann.submit()
        assert ann.console_errors == []
    assert sorted(Judgment.objects.values_list("label", flat=True)) == [0, 1, 1, 1, 1, 1]
