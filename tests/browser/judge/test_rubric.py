"""A rubric at the desk: what the keys are called follows the criterion that has the focus."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from tests.browser import accessibility
from tests.browser.judge.judging_desk import Visit
from tests.worlds.judging_desk import RUBRIC, JudgeWorld, make_judge_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]
CAPTIONS = {RUBRIC[0][0]: ["Satisfied", "Partly", "Not"], RUBRIC[1][0]: ["Does it", "Partly", "Does not"]}


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    return make_judge_world(tmp_path, runs=2, nuggets=RUBRIC)


def test_keys_are_called_by_what_the_criterion_asks(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.answer_is(1)
        assert ann.page.locator("#h-labels").inner_text() == "Is it true of the answer?"
        hint = ann.page.locator(".rows-hint [data-label]")
        for _ in CAPTIONS:
            row = ann.page.locator("#label-rows .row.is-current")
            captions = CAPTIONS[row.locator(".row-text").inner_text()]
            expect(row.locator(".label-word")).to_have_text(captions)
            expect(hint).to_have_text(captions)
            name = row.locator(".row-number").inner_text()
            expect(row.get_by_role("group", name=f"Criterion label of {name}")).to_be_visible()
            ann.press("1")
            ann.announces(f"{name} {captions[0].lower()}")
        ann.saved()
        assert set(ann.labels().values()) == {"support"}
        assert accessibility.axe(ann.page) == []
