"""Check 105 at the desk where citations are judged: the sentences of the cited passage are numbered in its margin."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.accessibility import drawn
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld
from tests.worlds.large import make_large_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

# Each mark: its words, the first and last sentence that begin in its line, and how it lies to the text.
MARKS = """(text) => {
  const sentences = [...text.querySelectorAll("[data-at]")];
  const words = document.createRange();
  words.setStartBefore(sentences[0]);
  words.setEndAfter(sentences.at(-1));
  const { left, right } = words.getBoundingClientRect();
  const host = document.getElementById("cited").getBoundingClientRect();
  return [...text.querySelectorAll(".sentence-numbers > i")].map((mark) => {
    const box = mark.getBoundingClientRect();
    const middle = box.top + box.height / 2;
    const begins = sentences.flatMap((one, at) => {
      const [line] = one.getClientRects();
      return line.top < middle && middle < line.bottom ? [at + 1] : [];
    });
    const isIn = host.left <= box.left && box.right <= host.right;
    const lies = isIn && (box.right <= left ? "left" : box.left >= right ? "right" : "over");
    return [mark.dataset.names, begins[0], begins.at(-1), lies];
  });
}"""
COPIED = """(text) => {
  document.getSelection().selectAllChildren(text);
  return document.getSelection().toString();
}"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    """Passages of 150 words in several sentences."""
    return make_large_world(tmp_path)


def marks(judge: JudgingDesk) -> list[Any]:
    text = judge.page.locator("#cited .cited-text")
    expect(text.locator(".sentence-numbers > i").first).to_be_attached()
    drawn(judge.page)
    found: list[Any] = text.evaluate(MARKS)
    return found


def are_numbers(found: list[Any], side: str) -> None:
    """Each line in which sentences begin has their numbers, beside the text."""
    assert len(found) > 3
    names = [f"S{first}" if first == last else f"S{first}\u2013{last}" for _, first, last, _ in found]
    assert [name for name, *_ in found] == names
    assert {lies for *_, lies in found} == {side}


def test_the_cited_passage_has_sentence_numbers_in_its_margin(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch) as ben:
        are_numbers(marks(ben), "left")
        assert "S1" not in ben.page.locator("#cited .cited-text").evaluate(COPIED)
        passage = ben.page.locator("#cited article")
        before = passage.get_attribute("data-passage")
        while passage.get_attribute("data-passage") == before:
            ben.press("1")
        are_numbers(marks(ben), "left")
        ben.page.set_viewport_size({"width": 390, "height": 844})
        ben.page.get_by_role("button", name="Judge", exact=True).click()
        are_numbers(marks(ben), "left")


def test_the_numbers_stand_at_the_right_of_what_runs_to_the_left(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.shown) as ann:
        ann.page.locator("#cited .cited-paragraph").first.evaluate("(text) => (text.dir = 'rtl')")
        are_numbers(marks(ann), "right")
