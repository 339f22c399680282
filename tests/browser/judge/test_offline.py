"""Acceptance check 109: without a network no button moves, the tick turns grey, and the count is of what was done."""

import pytest
from playwright.sync_api import expect

from tests.browser.judge.judging_desk import Visit
from tests.browser.nugget_desk import CALM
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

PLACES = """() => [...document.querySelectorAll("button, summary, a.button")]
  .filter((one) => one.checkVisibility() && !one.closest("#line, .row, .pair"))
  .map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return [one.textContent.trim(), x, y, width, height];
  })"""


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720)], ids=str)
def test_offline_moves_nothing_and_counts_labels(world: JudgeWorld, visit: Visit, size: tuple[int, int]) -> None:
    with visit(world.assign, viewport={"width": size[0], "height": size[1]}) as ann:
        ann.press("w", "1", "2")
        ann.saved()
        saved = ann.page.locator("#saved")
        expect(saved).to_contain_text("Saved")
        green = saved.evaluate("(one) => getComputedStyle(one).color")
        before = ann.page.evaluate(PLACES)
        ann.page.context.set_offline(True)
        ann.press("3", "1", "2")
        bar = ann.page.locator("#line [data-notice=save]")
        expect(bar).to_contain_text("Not connected. 3 labels wait on this device", timeout=CALM)
        assert ann.page.evaluate(PLACES) == before
        expect(saved).to_contain_text("Last saved")
        assert saved.evaluate("(one) => getComputedStyle(one).color") != green
        ann.press("k", "1")  # another label in the place of one that waits is no fourth
        expect(bar).to_contain_text("3 labels wait")
        ann.page.context.set_offline(False)
        ann.saved()
        expect(bar).to_contain_text("All 3 labels saved")
        assert ann.page.evaluate(PLACES) == before
        assert saved.evaluate("(one) => getComputedStyle(one).color") == green


def test_what_the_page_notes_by_itself_is_not_counted(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("w", "1")
        ann.saved()
        ann.desk("desk.texts.get(desk.progress.answers[1].id)")
        ann.page.context.set_offline(True)
        ann.press("2", "]")  # the answer that is opened is noted as seen
        expect(ann.page.locator("#line [data-notice=save]")).to_contain_text("1 label waits", timeout=CALM)
        ann.page.context.set_offline(False)
