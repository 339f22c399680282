"""Check 107: a sentence, its passage and the labels in one column, together in view, as they have to be compared."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.accessibility import layout
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld
from tests.worlds.large import WORDS, make_large_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

SMALL = {"width": 1280, "height": 720}
GAP = 24
BOXES = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect().toJSON();
  const range = document.createRange();
  range.selectNodeContents(document.querySelector("#cited .cited-text"));
  return {
    sentence: box("#pair-sentence"), text: range.getBoundingClientRect().toJSON(), labels: box("#pair .labels"),
    cited: box("#cited"), pane: box("#rows"),
  };
}"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    return make_large_world(tmp_path)


def boxes(judge: JudgingDesk) -> dict[str, Any]:
    expect(judge.page.locator("#cited .cited-text")).to_be_visible()
    found: dict[str, Any] = judge.page.evaluate(BOXES)
    return found


def are_in_view(judge: JudgingDesk) -> None:
    at = boxes(judge)
    assert at["pane"]["top"] <= at["sentence"]["top"]
    assert at["sentence"]["bottom"] <= at["text"]["top"]
    assert at["text"]["bottom"] <= at["cited"]["bottom"] + 1
    assert 0 <= at["labels"]["top"] - at["text"]["bottom"] <= GAP
    assert at["labels"]["bottom"] <= at["pane"]["bottom"]
    assert at["sentence"]["left"] >= at["pane"]["left"]


def test_sentence_passage_and_labels_are_in_view_together(world: JudgeWorld, visit: Visit) -> None:
    for task in (world.scratch, world.shown):
        with visit(task, viewport=SMALL) as judge:
            words = judge.page.locator("#cited .cited-text").inner_text().split()
            assert len(words) == WORDS
            for _ in range(3):
                are_in_view(judge)
                judge.press("2")
            assert layout(judge.page) == []


def test_labels_stay_below_short_passages_and_long_ones_scroll(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch, viewport=SMALL) as ben:
        text = ben.page.locator("#cited .cited-text")
        text.evaluate("(one) => (one.textContent = one.textContent.slice(0, 200))")
        at = boxes(ben)
        assert 0 <= at["labels"]["top"] - at["text"]["bottom"] <= GAP
        text.evaluate("(one) => (one.textContent = one.textContent.repeat(15))")
        at = boxes(ben)
        assert at["text"]["bottom"] > at["pane"]["bottom"]
        assert at["labels"]["bottom"] <= at["pane"]["bottom"]
        assert 0 <= at["labels"]["top"] - at["cited"]["bottom"] <= GAP
        top = at["sentence"]["top"]
        ben.page.locator("#cited").hover()
        ben.page.mouse.wheel(0, 5000)
        expect(ben.page.locator("#cited")).not_to_have_js_property("scrollTop", 0)
        at = boxes(ben)
        assert at["sentence"]["top"] == top
        assert 0 <= at["labels"]["top"] - at["text"]["bottom"] <= GAP
        ben.press("1")
        expect(ben.page.locator("#cited")).to_have_js_property("scrollTop", 0)


def test_on_a_phone_the_column_reads_from_the_sentence_down(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch, viewport={"width": 390, "height": 844}) as ben:
        ben.page.get_by_role("button", name="Judge", exact=True).click()
        at = boxes(ben)
        assert at["sentence"]["bottom"] <= at["text"]["top"]
        assert at["text"]["top"] < at["labels"]["top"]


@pytest.mark.parametrize("touch", [False, True])
def test_on_a_phone_the_bar_of_labels_is_low_and_in_view(world: JudgeWorld, visit: Visit, touch: bool) -> None:
    with visit(world.scratch, viewport={"width": 390, "height": 844}, has_touch=touch, is_mobile=touch) as ben:
        ben.page.get_by_role("button", name="Judge", exact=True).click()
        bar, below = (
            ben.page.locator(part).bounding_box() for part in ("#pair", ".desk-actions > .desk-group:last-child")
        )
        assert bar
        assert below
        assert bar["height"] <= 160
        assert bar["y"] + bar["height"] <= (below["y"] if touch else 844)


def test_a_missing_label_is_said_by_the_empty_buttons_alone(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch) as ben:
        state = ben.page.locator("#pair-state")
        expect(state).to_have_text("▢ no label")
        box = state.bounding_box()
        assert box is not None
        assert box["width"] <= 1
