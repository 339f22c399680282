"""Finding evidence: a nugget's own words by one key, numbers in the margin (105), a bar at the selection (106)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import Operation, WorkingNugget
from tests.browser.nugget_desk import NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

SELECT = """([x, y, letters]) => {
  const { offsetNode, offset } = document.caretPositionFromPoint(x, y);
  const to = Math.min(offset + letters, offsetNode.length);
  document.getSelection().setBaseAndExtent(offsetNode, Math.max(0, to - letters), offsetNode, to);
}"""
PLACES = """() => {
  const bar = document.querySelector(".read-bar").getBoundingClientRect();
  const boxes = [...document.getSelection().getRangeAt(0).getClientRects()].filter((box) => box.width);
  const [top, bottom] = [Math.min(...boxes.map((box) => box.top)), Math.max(...boxes.map((box) => box.bottom))];
  const words = { top, bottom };
  const sides = { left: bar.left, right: innerWidth - bar.right };
  return { above: words.top - bar.bottom, below: bar.top - words.bottom, ...sides };
}"""
AT_SENTENCE = """() => {
  const bar = document.querySelector(".read-bar").getBoundingClientRect();
  const boxes = [...document.querySelector(".s[aria-describedby], .s:focus").getClientRects()];
  const [top, bottom] = [Math.min(...boxes.map((box) => box.top)), Math.max(...boxes.map((box) => box.bottom))];
  return { above: top - bar.bottom, below: bar.top - bottom, left: bar.left, right: innerWidth - bar.right };
}"""
MARGIN = """(passage) => [...passage.querySelectorAll(".sentence-numbers > i")].map((mark) => {
  const middle = mark.getBoundingClientRect().top + mark.offsetHeight / 2;
  const begins = [...passage.querySelectorAll(".s")].filter((one) => {
    const [line] = one.getClientRects();
    return line.top < middle && middle < line.bottom;
  });
  const numbers = begins.map((one) => Number(one.dataset.sentence) + 1);
  return [mark.dataset.names, numbers[0], numbers.at(-1)];
})"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path, passages=12, drafts=5, sentences=5)


@pytest.fixture
def ann(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.post_edit) as desk:
        type(world.campaign).objects.update(language="en")
        WorkingNugget.objects.filter(task=desk.task, key="d1").update(text="The water of passage 3 in s2")
        yield desk.reload()
        assert desk.console_errors == []


def marks(page: Page) -> int:
    found: int = page.evaluate("CSS.highlights.get('passage-hit')?.size ?? 0")
    return found


def test_h_finds_the_words_and_l_links_the_sentence_in_view(ann: NuggetDesk) -> None:
    page = ann.page
    ann.press("h")
    best = page.locator(".s.is-hit")
    expect(best).to_have_text("Passage 3 of t1 water water water water water water water s2.")
    expect(best).to_be_in_viewport()
    expect(page.locator("#line [data-text]")).to_contain_text("hits in 12 passages")
    assert page.locator(".strip > .has-hit").count() == 12
    assert marks(page) > 0
    ann.is_on("N1")
    ann.press("l")
    ann.saved()
    evidence = WorkingNugget.objects.get(task=ann.task, key="d1").evidence
    assert [sentence for _, sentence in evidence] == [1]
    logged = Operation.objects.get(task=ann.task, kind="search")
    assert (logged.source, logged.payload["words"]) == ("nugget", "water passage 3 s2")
    ann.press("]")
    expect(best).not_to_have_text("Passage 3 of t1 water water water water water water water s2.")
    ann.press("Escape")
    assert marks(page) == 0
    expect(page.locator(".s.is-hit, .strip > .has-hit, .read-nugget:visible")).to_have_count(0)


def test_the_margin_numbers_the_sentences_and_is_not_copied(ann: NuggetDesk) -> None:
    passage = ann.page.locator("article.passage").first
    expect(passage.locator(".sentence-numbers > i").first).to_be_attached()
    numbers = passage.evaluate(MARGIN)
    shown = [f"S{first}" if first == last else f"S{first}\u2013{last}" for _, first, last in numbers]
    assert [names for names, _, _ in numbers] == shown
    assert (numbers[0][1], numbers[-1][2]) == (1, 5)
    copied = passage.evaluate(
        "(e) => { document.getSelection().selectAllChildren(e.querySelector('.passage-text'));"
        " return document.getSelection().toString(); }"
    )
    assert "S1" not in copied


def assert_beside(page: Page, script: str) -> None:
    """The bar goes above or below the words, within 8 px, and into the window: at the browser's next frames."""
    for _ in range(40):
        if is_beside(page.evaluate(script)):
            return
        page.wait_for_timeout(50)
    raise AssertionError(page.evaluate(script))


def is_beside(places: dict[str, Any]) -> bool:
    near = 0 <= places["above"] <= 8 or 0 <= places["below"] <= 8
    return bool(near and places["left"] >= 0 and places["right"] >= 0)


@pytest.mark.parametrize("corner", ["top left", "top right", "bottom left", "bottom right"])
def test_the_bar_opens_at_the_selection_in_each_corner(ann: NuggetDesk, corner: str) -> None:
    page = ann.page
    page.locator("article.passage").nth(4).scroll_into_view_if_needed()
    page.mouse.move(300, 400)
    page.mouse.wheel(0, 137)
    page.wait_for_timeout(200)
    texts = page.locator(".passage-text").evaluate_all(
        """(all) => {
          const tools = document.querySelector(".read-tools").getBoundingClientRect().bottom + 40;
          const foot = document.getElementById("passages").getBoundingClientRect().bottom;
          return all.map((one) => one.getBoundingClientRect()).map(({ left, right, top, bottom }) =>
            ({ left, right, top: Math.max(top, tools), bottom: Math.min(bottom, foot) }))
            .filter((box) => box.bottom - box.top > 27);
        }"""
    )
    box = texts[0] if corner.startswith("top") else texts[-1]
    y = box["top"] + 12 if corner.startswith("top") else box["bottom"] - 12
    x = box["left"] + 6 if corner.endswith("left") else box["right"] - 60
    page.evaluate(SELECT, [x, y, 8])
    expect(page.locator(".read-bar.is-floating")).to_be_visible()
    assert_beside(page, PLACES)
    ann.press("Escape")
    expect(page.locator(".read-bar.is-floating")).to_have_count(0)


def test_a_keyboard_selection_has_its_bar_too(ann: NuggetDesk) -> None:
    ann.page.locator("article.passage .s").nth(1).click()
    ann.press("Shift+ArrowDown", "Shift+ArrowDown")
    expect(ann.page.locator(".read-bar.is-floating:not(.is-at-sentence)")).to_be_visible()
    assert_beside(ann.page, PLACES)


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720)])
def test_the_bar_stands_at_a_sentence_that_has_only_the_focus(ann: NuggetDesk, size: tuple[int, int]) -> None:
    page = ann.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    ann.press("]")
    bar = page.locator(".read-bar.is-floating")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        ann.press(key)
        expect(bar).to_be_visible()
        assert_beside(page, AT_SENTENCE)
        assert page.evaluate(AT_SENTENCE)["above"] >= 0, "it covers the lines that come next"
    place = bar.bounding_box()
    ann.press("Enter")
    expect(bar.get_by_role("button", name="New nugget")).to_be_focused()
    assert bar.bounding_box() == place
    ann.press("Escape")
    expect(page.locator(".passage-text .s:focus")).to_have_count(1)
    expect(bar.get_by_role("button", name="Back")).to_be_visible()


def test_t_takes_the_words_as_the_text_of_a_new_nugget(ann: NuggetDesk) -> None:
    page = ann.page
    page.locator("article.passage .s").first.click()
    page.evaluate(
        "() => { const node = document.querySelector('.passage-text .s').firstChild;"
        " document.getSelection().setBaseAndExtent(node, 0, node, 9); }"
    )
    expect(page.locator(".read-bar.is-floating [data-do=words]")).to_be_visible()
    ann.press("t")
    field = page.get_by_label("Text", exact=True)
    expect(field).to_be_focused()
    words = field.input_value()
    assert words.startswith("Passage ")
    expect(page.locator(".composer .chip-go")).to_have_text(["P1 S1"])
    ann.press("Enter")
    ann.press("1")
    ann.saved()
    assert ann.texts()[-1] == words
