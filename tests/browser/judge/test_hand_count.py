"""Keys a judgment costs at 1280x720, from the first one to the confirmed submission, with the keyboard alone."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Assignment, SupportJudgment
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld
from tests.worlds.large import CITED, NUGGETS, PAIRS, make_large_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

SMALL = {"width": 1280, "height": 720}
MOST_A_JUDGMENT = 1.1


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    """Eighteen nuggets by six answers, and 31 pairs."""
    return make_large_world(tmp_path)


class Counting(JudgingDesk):
    """An assessor whose keys are counted from the moment the desk is open."""

    keys = 0

    def press(self, *chords: str) -> None:
        self.keys += len(chords)
        super().press(*chords)


def counting(judge: JudgingDesk) -> Counting:
    return Counting(judge.page, judge.task)


def test_assigning_takes_at_most_1_1_keys_a_judgment(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign, viewport=SMALL) as judge:
        ann = counting(judge)
        for number in range(1, len(CITED) + 1):
            ann.answer_is(number)
            for at in range(NUGGETS):
                ann.press("123"[at % 3])
        ann.submit()
        assert ann.console_errors == []
    judged = Assignment.objects.filter(stands=True).count()
    assert judged == NUGGETS * len(CITED)
    print(f"assign: {ann.keys} keys for {judged} judgments, {ann.keys / judged:.3f} each")
    assert ann.keys / judged <= MOST_A_JUDGMENT


def test_citations_take_at_most_1_1_keys_a_judgment(world: JudgeWorld, visit: Visit) -> None:
    for task, keys in ((world.scratch, "123"), (world.shown, "a2a3")):
        with visit(task, viewport=SMALL) as judge:
            ben = counting(judge)
            for at in range(PAIRS):
                expect(ben.page.locator("#pair-number")).to_have_text(f"Pair {at + 1} of {PAIRS}")
                ben.press(keys[at % len(keys)])
            ben.submit()
            assert ben.console_errors == []
        judged = SupportJudgment.objects.filter(stands=True, judge__user=task.assessor).count()
        assert judged == PAIRS
        print(f"{task.stage}: {ben.keys} keys for {judged} judgments, {ben.keys / judged:.3f} each")
        assert ben.keys / judged <= MOST_A_JUDGMENT
