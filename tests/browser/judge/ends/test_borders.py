"""The border between two answers is seen, and finishing one is the next act only once it has all its labels."""

import pytest
from playwright.sync_api import expect

from tests.browser.judge.judging_desk import Visit
from tests.browser.nugget_desk import stopped_clock
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

ALMOST_4_S, SOME_TIME = 3800, 400


def test_passing_an_answer_s_border_is_seen_for_4_s(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch) as ben:
        passed = ben.page.locator("#answer-passed")
        expect(passed).to_be_hidden()
        count = ben.desk("desk.progress.keys(desk.answers.current).length")
        place = ben.page.locator("#pair-sentence").bounding_box()
        ben.saved()  # a request under way would be given up while the clock stands
        with stopped_clock(ben.page):
            ben.press(*"1" * count)
            expect(passed).to_have_text("Answer 2 of 6")
            expect(passed).to_be_visible()
            expect(ben.page.locator("#asked")).to_have_class("asked is-passed")
            expect(ben.page.locator("#line [data-text]")).not_to_contain_text("Answer 2 of 6")
            now = ben.page.locator("#pair-sentence").bounding_box()
            assert place is not None
            assert now is not None
            assert (now["x"], now["y"]) == (place["x"], place["y"])
            ben.page.clock.run_for(ALMOST_4_S)
            expect(passed).to_be_visible()
            ben.page.clock.run_for(SOME_TIME)
            expect(passed).to_be_hidden()
        ben.saved()


def test_finishing_is_primary_once_the_answer_is_complete(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        finish = ann.page.locator("[data-act=finish]")
        ann.press(*"1" * 15)
        expect(finish).not_to_have_class("go")
        ann.press("1")
        expect(finish).to_have_class("go")
        ann.press("0")
        expect(finish).not_to_have_class("go")
