"""A label key pressed once too often, where nothing is left to go on to, changes no label unasked."""

import pytest
from playwright.sync_api import expect

from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def says(judge: JudgingDesk, text: str) -> None:
    expect(judge.page.locator("#line [data-text]")).to_contain_text(text)


def test_the_last_row_keeps_its_label(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.label_all("support")
        ann.press("ArrowDown", "0", "1")
        ann.press("3", "2")
        ann.is_on("N2")
        says(ann, "N2 has its label: 0 clears it, Ctrl+Enter goes on")
        assert ann.checked() == ["support"] * 16
        ann.press("0", "3")
        assert ann.checked()[1] == "not_support"
        ann.press("2")
        assert ann.checked()[1] == "not_support"
        ann.press("ArrowUp", "ArrowDown", "2")  # who goes there means it
        assert ann.checked()[1] == "partial_support"
        ann.press("1")
        assert ann.checked()[1] == "support"
        ann.press("Control+z", "Control+z", "3")
        assert ann.checked()[1] == "not_support"
        ann.page.locator(".row.is-current .tone-1").click()
        assert ann.checked()[1] == "support"
        ann.saved()


def test_the_last_pair_keeps_its_label(world: JudgeWorld, visit: Visit) -> None:
    for task, key in ((world.scratch, "1"), (world.shown, "a")):
        with visit(task) as judge:
            total = judge.desk("desk.progress.counts().total")
            judge.press(*key * total)
            here = judge.page.locator("#pair-number").inner_text()
            given = judge.checked()
            judge.press("3", "2", "a")
            says(judge, "has its label: 0 clears it, Ctrl+Enter goes on")
            assert judge.page.locator("#pair-number").inner_text() == here
            assert judge.checked() == given
            judge.press("0", "3")
            assert judge.checked() == ["no_support"]
            judge.saved()
