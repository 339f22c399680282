"""Check 102: the search word, its count and its marks agree on every pair and answer, and go together."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld
from tests.worlds.large import PAIRS, make_large_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

SHOWN = """() => ({
  word: document.getElementById("text-search").value,
  count: document.getElementById("text-hits").textContent,
  marks: [...(CSS.highlights.get("passage-hit") ?? [])].map(String),
  there: document.querySelector("#cited .cited-text").textContent.toLowerCase().split("flood").length - 1,
})"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    """Thirty-one pairs; every other passage has the word."""
    return make_large_world(tmp_path)


def agrees(judge: JudgingDesk, number: int) -> int:
    expect(judge.page.locator("#pair-number")).to_contain_text(f"Pair {number} of {PAIRS}")
    expect(judge.page.locator("#answer-problem")).to_be_hidden()
    shown = judge.page.evaluate(SHOWN)
    there = shown.pop("there")
    count = "1 hit" if there else "no hit here"
    assert shown == {"word": "flood", "count": count, "marks": ["flood"] * there}, f"pair {number}"
    return int(there)


def test_a_search_goes_on_over_all_pairs_and_ends_with_escape(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch) as ben:
        ben.press("/")
        ben.type("flood")
        expect(ben.page.locator("#text-hits")).not_to_be_empty()
        ben.page.locator("#cited .cited-text").click()
        found = set()
        for number in range(1, PAIRS):
            found.add(agrees(ben, number))
            ben.press("2")
        assert found == {0, 1}
        agrees(ben, PAIRS)
        ben.press("/", "Escape")
        assert ben.page.evaluate(SHOWN) | {"there": 0} == {"word": "", "count": "", "marks": [], "there": 0}
        expect(ben.page.locator("#pair")).to_be_focused()
        ben.press("ArrowUp")
        assert ben.page.evaluate(SHOWN)["count"] == ""
        assert ben.console_errors == []


def test_a_search_goes_on_in_the_next_answer(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("/")
        ann.type("bend")
        ann.page.locator("#answer-head").click()
        for _ in range(5):
            there = ann.page.locator("#answer-text").inner_text().lower().count("bend")
            expect(ann.page.locator("#text-hits")).to_have_text(
                f"{there} hit{'s' if there > 1 else ''}" if there else "no hit here"
            )
            assert ann.page.evaluate("CSS.highlights.get('passage-hit').size") == there
            ann.press("]")
        ann.press("/", "Escape")
        expect(ann.page.locator("#text-search")).to_have_value("")
        expect(ann.page.locator("#text-hits")).to_be_empty()
        assert ann.page.evaluate("CSS.highlights.get('passage-hit').size") == 0
