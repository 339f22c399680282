"""The left pane: searching, going through sentences, linking without a mouse, filters and marks."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from assessor.blind.passages import passages_of
from evaluation.models import Segment, Task
from tests.assessor.desk_client import Window
from tests.browser.accessibility import NO_STYLES
from tests.browser.nugget_desk import drained
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

TEXTS = {
    1: "When a flood tops the banks, sand settles first. An avulsion follows. Geologists read its traces.",
    2: "When a flood tops the banks, sand settles first. An avulsion follows. Levees postpone an Avulsión.",
    3: "Dr. Smith measured 3.5 m of sediment.\n- gravel\n- sand",
}
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}
Open = Callable[..., Page]


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Any) -> DeskWorld:
    """Eight passages in four documents; the first three have texts of their own."""
    world = make_desk_world(tmp_path, passages=8)
    first, second, third, *_ = in_order(world)
    for number, segment in ((1, first), (2, second), (3, third)):
        Segment.objects.filter(pk=segment.pk).update(text=TEXTS[number], title=f"Rivers, part {number}")
    return world


def in_order(world: DeskWorld) -> list[Segment]:
    by_id = {segment.public_id: segment for segment in world.segments()}
    return [by_id[passage.public_id] for passage in passages_of(world.post_edit)]


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def open_desk(
    world: DeskWorld, chromium: Browser, live_server: LiveServer, complaints: list[str]
) -> Iterator[Open]:
    contexts = []

    def desk(task: Task | None = None, **options: Any) -> Page:
        window = Window(world.client(), task or world.post_edit).open()
        context = chromium.new_context(
            base_url=live_server.url, **{"viewport": {"width": 1440, "height": 900}} | options
        )
        contexts.append(context)
        session = window.client.cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None,
        )
        page.goto(window.url())
        page.locator("body[data-ready]").wait_for()
        return page

    yield desk
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(open_desk: Open) -> Page:
    return open_desk()


def focused(page: Page) -> str:
    """Where the focus is: a sentence as "P2 S3", a heading as "P2", else the element's id."""
    where: str = page.evaluate("""() => {
      const one = document.activeElement, passage = one.closest("article.passage");
      if (!passage) return one.id;
      const sentence = one.dataset.sentence;
      return `P${passage.dataset.number}${sentence === undefined ? "" : ` S${Number(sentence) + 1}`}`;
    }""")
    return where


def state_of(world: DeskWorld, task: Task | None = None) -> dict[str, Any]:
    return Window(world.client(), task or world.post_edit).state()


def evidence_of(world: DeskWorld, key: str) -> list[list[Any]]:
    return next(row["evidence"] for row in state_of(world)["rows"] if row["key"] == key)


def marks(page: Page) -> int:
    count: int = page.evaluate("() => CSS.highlights.get('passage-hit')?.size ?? 0")
    return count


def search(page: Page, words: str) -> None:
    page.get_by_label("Search the passages").fill(words)
    page.wait_for_timeout(250)


def first_row(page: Page) -> None:
    page.locator("#n-d1").focus()


def test_a_search_counts_and_leads_from_hit_to_hit(page: Page) -> None:
    text = page.locator(".passage-text").all_inner_texts()
    first_row(page)
    page.keyboard.press("/")
    page.keyboard.type("AVULSION")
    expect(page.locator("#passage-hits")).to_have_text("3 hits in 2 passages")
    assert marks(page) == 3
    page.keyboard.press("Enter")
    expect(page.locator("#passage-hits")).to_have_text("Hit 1 of 3")
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#passage-hits")).to_have_text("Hit 3 of 3")
    page.keyboard.press("Escape")
    assert focused(page) == "P2 S3"
    assert marks(page) == 0
    expect(page.locator("#passage-search")).to_have_value("")
    expect(page.locator("#passage-hits")).to_be_empty()
    assert page.locator(".passage-text").all_inner_texts() == text
    page.keyboard.press("Escape")
    assert focused(page) == "n-d1"


def test_a_search_by_buttons_by_the_browser_and_by_place(page: Page) -> None:
    search(page, "sand settles")
    page.get_by_role("button", name="Next", exact=True).click()
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator("#passage-hits")).to_have_text("Hit 2 of 2")
    search(page, "no such word")
    expect(page.locator("#passage-hits")).to_have_text("no hit here")
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_disabled()
    search(page, "avulsion")
    assert page.evaluate("() => window.find('An avulsion follows. Geologists read')")
    search(page, "p3 s2")
    expect(page.locator("#passage-hits")).to_have_text("Enter goes to P3 S2")
    page.keyboard.press("Enter")
    assert focused(page) == "P3 S2"
    expect(page.locator(":focus")).to_have_text("- gravel")


def test_keys_typed_into_the_search_are_text(page: Page, world: DeskWorld) -> None:
    page.get_by_label("Search the passages").click()
    page.keyboard.type("1 2 3 a x m r l n [ ]")
    expect(page.get_by_label("Search the passages")).to_have_value("1 2 3 a x m r l n [ ]")
    drained(page)
    assert state_of(world)["seq"] == 0


def test_linking_a_sentence_without_a_mouse_returns_to_its_row(page: Page, world: DeskWorld) -> None:
    page.locator("#n-d2").focus()
    page.keyboard.press("]")
    assert focused(page) == "P1 S1"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "P1 S2"
    expect(page.get_by_role("group", name="What is selected")).to_contain_text("P1 S2")
    expect(page.get_by_role("button", name="Link to N2")).to_be_visible()
    page.keyboard.press("l")
    expect(page.locator("#n-d2 .chip-go")).to_have_text("P1 S2")
    expect(page.locator("#read-bar-what")).to_have_text("P1 S2, linked to N2")
    expect(page.locator("article.passage").first.locator("h3")).to_contain_text("P1, 1 nugget")
    drained(page)
    assert evidence_of(world, "d2") == [[in_order(world)[0].public_id, 1]]
    page.keyboard.press("b")
    assert focused(page) == "n-d2"
    page.keyboard.press("g")
    assert focused(page) == "P1 S2"
    expect(page.locator(".s.evidence")).to_be_focused()
    page.keyboard.press("b")
    assert focused(page) == "n-d2"
    page.keyboard.press("ArrowDown")
    expect(page.locator(".s.evidence")).to_have_count(0)


def test_several_sentences_become_the_evidence_of_a_new_nugget(page: Page) -> None:
    first_row(page)
    page.keyboard.press("]")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowDown")
    expect(page.locator("#read-bar-what")).to_have_text("P1 S1 to P1 S3")
    page.keyboard.press("Shift+ArrowUp")
    expect(page.locator("#read-bar-what")).to_have_text("P1 S1 to P1 S2")
    page.keyboard.press("n")
    expect(page.locator(".composer .chip-go")).to_have_text(["P1 S1", "P1 S2"])
    assert page.locator(".composer textarea").input_value() == ""


def test_words_selected_with_the_mouse_stand_for_their_sentences(page: Page) -> None:
    first_row(page)
    box = page.locator(".passage .s").nth(1).bounding_box()
    assert box
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 8, box["y"] + 8, steps=5)
    page.mouse.up()
    expect(page.locator("#read-bar-what")).to_have_text("P1 S2")
    expect(page.get_by_role("button", name="New nugget", exact=False).last).to_be_visible()


def test_enter_reaches_the_bar_and_a_name_links_a_whole_passage(page: Page, world: DeskWorld) -> None:
    first_row(page)
    page.keyboard.press("]")
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_contain_text("New nugget")
    page.keyboard.press("Escape")
    assert focused(page) == "P1 S1"
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    page.keyboard.type("P2")
    page.keyboard.press("Enter")
    expect(page.locator("#n-d1 .chip-go")).to_have_text("P2")
    drained(page)
    assert evidence_of(world, "d1") == [[in_order(world)[1].public_id, None]]
    page.keyboard.press("g")
    assert focused(page) == "P2 S1"
    page.keyboard.press("Escape")
    assert focused(page) == "n-d1"


def test_a_passage_is_entered_at_its_first_sentence(page: Page, world: DeskWorld) -> None:
    first_row(page)
    for key, place in (
        *(("]", "P1 S1"), ("r", "P2 S1"), ("ArrowDown", "P2 S2"), ("[", "P2 S1"), ("[", "P1 S1"), ("]", "P2 S1")),
        *(("j", "P2 S2"), ("ArrowRight", "P2 S3"), ("ArrowRight", "P3 S1"), ("k", "P2 S3")),
    ):
        page.keyboard.press(key)
        assert focused(page) == place, key
    page.keyboard.press("[")
    page.keyboard.press("n")
    expect(page.locator(".composer .chip-go")).to_have_text(["P2 S1"])
    page.keyboard.press("Escape")
    page.keyboard.press("[")
    page.keyboard.press("l")
    drained(page)
    assert [sentence for _, sentence in evidence_of(world, "d1")] == [0]


def test_from_a_heading_arrows_lead_to_its_sentences(page: Page, world: DeskWorld) -> None:
    first_row(page)
    head = page.locator("article.passage h3").nth(2)
    head.click()
    page.keyboard.press("l")
    expect(page.locator("#line [data-text]")).to_have_text("Go to a sentence first")
    page.keyboard.press("j")
    assert focused(page) == "P3 S1"
    head.click()
    page.keyboard.press("ArrowDown")
    assert focused(page) == "P3 S1"
    drained(page)
    assert evidence_of(world, "d1") == []


def test_a_passage_read_leads_to_the_next_one(page: Page, world: DeskWorld) -> None:
    first_row(page)
    page.keyboard.press("]")
    page.keyboard.press("r")
    assert focused(page) == "P2 S1"
    expect(page.locator("article.passage h3").first).to_contain_text("read")
    expect(page.locator("#passage-coverage")).to_have_text("1 of 8 read, 0 linked")
    expect(page.locator("#progress")).to_have_text("1 of 8 read")
    drained(page)
    assert state_of(world)["marks"] == {in_order(world)[0].public_id: "read"}
    button = page.get_by_role("button", name="Mark as read").first
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    drained(page)
    assert state_of(world)["marks"] == {}


def test_filters_show_what_is_left(page: Page) -> None:
    first_row(page)
    page.keyboard.press("]")
    page.keyboard.press("l")
    page.keyboard.press("r")
    page.keyboard.press("r")
    shown = page.locator("article.passage:visible")
    filters = page.get_by_role("group", name="Which passages to show")
    filters.get_by_role("button", name="Unread 6").click()
    expect(shown).to_have_count(6)
    filters.get_by_role("button", name="Not linked 7").click()
    expect(shown).to_have_count(7)
    filters.get_by_role("button", name="Linked 1", exact=True).click()
    expect(shown).to_have_count(1)
    search(page, "avulsion")
    expect(page.locator("#passage-hits")).to_have_text("1 hit in 1 passage")
    filters.get_by_role("button", name="All 8").click()
    expect(page.locator("#passage-hits")).to_have_text("3 hits in 2 passages")


def test_in_the_unread_ones_each_vanishes_as_one_moves_on(page: Page) -> None:
    page.get_by_role("button", name="Unread 8").click()
    first_row(page)
    page.keyboard.press("]")
    for left in range(7, 0, -1):
        page.keyboard.press("r")
        expect(page.locator("article.passage:visible")).to_have_count(left)
    assert focused(page) == "P8 S1"
    page.get_by_role("button", name="Mark as read").last.click()
    page.get_by_role("button", name="Unread 0").click()
    page.get_by_role("button", name="Show all passages").click()
    expect(page.locator("article.passage:visible")).to_have_count(8)


def test_the_place_is_found_again(page: Page) -> None:
    page.get_by_role("button", name="Not linked 8").click()
    page.locator("#passages").evaluate("one => one.scrollTo(0, 400)")
    place = page.evaluate("async () => (await (await import('/static/js/nuggets/main.js')).desk).passages.place()")
    tops = "() => [...document.querySelectorAll('article.passage')].map(one => one.getBoundingClientRect().top)"
    before = page.evaluate(tops)
    page.reload()
    page.locator("body[data-ready]").wait_for()
    page.evaluate(
        "async place => (await (await import('/static/js/nuggets/main.js')).desk).passages.restore(place)", place
    )
    page.wait_for_timeout(300)
    assert page.evaluate(tops) == pytest.approx(before, abs=2)
    expect(page.get_by_role("button", name="Not linked 8")).to_have_attribute("aria-pressed", "true")


def test_the_pane_is_few_tab_stops_and_says_what_repeats(page: Page) -> None:
    second = page.locator("article.passage").nth(1)
    expect(second.locator(".s.again")).to_have_count(2)
    expect(second.locator(".again-note")).to_have_text("2 sentences of P1 again")
    page.get_by_label("Search the passages").focus()
    stops = []
    for _ in range(8):
        page.keyboard.press("Tab")
        stops.append(focused(page))
    assert stops[4:6] == ["P1 S1", "P1"]
    assert not page.locator("#passages").evaluate("one => one.contains(document.activeElement)")


def test_by_hand_a_passage_without_nuggets_had_nothing_new(open_desk: Open, world: DeskWorld) -> None:
    page = open_desk(world.manual)
    page.locator(".composer textarea").fill("a fact about water")
    page.locator(".composer textarea").press("Enter")
    page.locator(".passage .s").first.click()
    page.keyboard.press("r")
    assert focused(page) == "P2 S1"
    expect(page.locator("article.passage h3").first).to_contain_text("nothing new")
    page.keyboard.press("u")
    assert focused(page) == "P3 S1"
    drained(page)
    assert set(state_of(world, world.manual)["marks"].values()) == {"nothing new"}
    search(page, "WATER")
    expect(page.locator(".read-own")).to_contain_text("1 of your nuggets")
    page.locator(".read-own a").click()
    assert focused(page).startswith("n-")


def test_in_a_window_that_only_reads_nothing_is_marked(page: Page, world: DeskWorld) -> None:
    page.evaluate("() => { document.body.dataset.readonly = '' }")
    page.locator(".passage .s").first.click()
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Mark as read")).to_have_count(0)
    drained(page)
    assert state_of(world)["marks"] == {}


def test_the_pane_is_accessible(page: Page) -> None:
    page.locator(".passage .s").first.click()
    search(page, "avulsion")
    page.keyboard.press("Enter")
    for theme, width in product(("light", "dark"), (1440, 320)):
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": 900})
        if width < 900:
            page.get_by_role("button", name="Read", exact=True).click()
        found = Axe().run(page, context="#passages", options=RULES | NO_STYLES).response["violations"]
        assert [f"{violation['id']} {violation['nodes'][0]['html'][:200]}" for violation in found] == [], (
            theme,
            width,
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
