"""Check X10: cited passages of up to 200,000 characters, read at their places; a task over them by keyboard alone."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import WorkingSupport
from evaluation.models import Protocol, Segment, SupportJudgment, Task
from evaluation.rules.sentences import split
from tests.browser.accessibility import axe, layout
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld
from tests.worlds.long_passages import CITED, CLAIMS, make_long_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

SMALL = {"width": 1280, "height": 720}
LEAST_LINES = 20
LONGEST = 42_000  # words, more than 200,000 characters
LINES = """(host) => {
  const frame = host.getBoundingClientRect();
  const tops = [...host.querySelectorAll(".cited-paragraph")]
    .filter((one) => one.querySelector("[data-at]").checkVisibility({ contentVisibilityAuto: true }))
    .flatMap((one) => [...one.querySelectorAll("[data-at]")].flatMap((part) => [...part.getClientRects()]))
    .filter(({ top, bottom }) => top >= frame.top - 1 && bottom <= frame.bottom + 1)
    .map(({ top }) => Math.round(top));
  return new Set(tops).size;
}"""
IN_VIEW = """(element) => {
  const frame = document.getElementById("cited").getBoundingClientRect();
  const { top, bottom } = element.getBoundingClientRect();
  return top >= frame.top && bottom <= frame.bottom;
}"""
MACHINE_QUOTE = """() => [...CSS.highlights.get("machine-quote")].map((range) => range.toString())"""
LAID_OUT = """(paragraphs) => paragraphs
  .filter((one) => one.querySelector("[data-at]").checkVisibility({ contentVisibilityAuto: true })).length"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path, request: pytest.FixtureRequest) -> JudgeWorld:
    """`request.param`: words of the one document that is cited; else six of 3,000 words are."""
    if words := getattr(request, "param", 0):
        return make_long_world(tmp_path, words=words, cited=(1,))
    return make_long_world(tmp_path)


def place_is(judge: JudgingDesk, text: str) -> None:
    place = judge.page.locator("#cited [data-at][aria-current=true]")
    expect(place).to_have_text(text)
    assert place.evaluate(IN_VIEW)


@pytest.mark.parametrize("world", [LONGEST], indirect=True)
def test_the_middle_of_200_000_characters_is_one_key_away(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch, viewport=SMALL) as ben:
        assert len(ben.page.locator("#cited").text_content() or "") > 200_000
        assert ben.page.locator("#cited").evaluate("(host) => host.scrollTop") == 0
        paragraphs = ben.page.locator(".cited-paragraph")
        assert paragraphs.evaluate_all(LAID_OUT) < paragraphs.count() / 10
        ben.press("g")
        place_is(ben, CLAIMS[0])
        assert paragraphs.evaluate_all(LAID_OUT) < paragraphs.count() / 10
        expect(ben.page.locator("#pair")).to_be_focused()
        ben.press("/")
        ben.retype("valley widens")
        expect(ben.page.locator("#text-hits")).to_have_text("1 hit")
        ben.press("Enter", "Escape", "1")
        ben.saved()
        assert list(ben.labels().values()) == ["full_support"]
        assert ben.console_errors == []


def test_twenty_lines_are_in_view_on_a_small_screen(world: JudgeWorld, visit: Visit) -> None:
    for task in (world.scratch, world.shown):
        with visit(task, viewport=SMALL) as judge:
            expect(judge.page.locator("#cited-length")).to_have_text("3,033 words")
            judge.press("g")
            place_is(judge, CLAIMS[0])
            assert judge.page.locator("#cited").evaluate(LINES) >= LEAST_LINES
            assert layout(judge.page) == []
            assert axe(judge.page) == []
            judge.page.emulate_media(color_scheme="dark")
            assert axe(judge.page) == []


def test_buttons_and_the_strip_lead_to_the_places_too(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch, viewport=SMALL) as ben:
        places = ben.page.get_by_role("group", name="Places with the sentence's words")
        places.get_by_role("button", name="Next place").click()
        place_is(ben, CLAIMS[0])
        expect(ben.page.locator("#line")).to_contain_text(
            f"Place 1 of 1: {sentence_name(ben)}, 100 % of its words"
        )
        places.get_by_role("button", name="Place before").click()
        place_is(ben, CLAIMS[0])
        ben.page.locator("#cited").evaluate("(host) => (host.scrollTop = 0)")
        ben.page.locator(".places-strip > [data-place]").first.click()
        place_is(ben, CLAIMS[0])
        ben.press("Shift+G")
        place_is(ben, CLAIMS[0])


def test_the_machine_s_quote_is_gone_to_first(world: JudgeWorld, visit: Visit) -> None:
    words = " ".join(split(Segment.objects.filter(text__contains="as note").earliest("pk").text)[5].split()[2:6])
    SupportJudgment.objects.filter(condition="llm").update(evidence=5, quote=words)
    with visit(world.shown, viewport=SMALL) as ann:
        assert ann.page.evaluate(MACHINE_QUOTE) == [words]
        place = ann.page.locator("#cited [data-at][aria-current=true]")
        ann.press("g")
        expect(place).to_have_attribute("data-at", "5")
        expect(ann.page.locator("#line")).to_contain_text("Place 1 of 2: S6, quoted by the machine")
        ann.press("g")
        place_is(ann, CLAIMS[0])
        ann.page.get_by_role("button", name=f"Quotes S6: \u201c{words}\u201d").click()
        expect(place).to_have_attribute("data-at", "5")
        assert layout(ann.page) == []
        assert axe(ann.page) == []
        assert ann.page.locator("#cited").evaluate(LINES) >= LEAST_LINES


def test_evidence_is_marked_by_key_and_by_mouse_and_taken_away(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch, viewport=SMALL) as ben:
        button, marked = ben.page.get_by_role("button", name="Evidence"), ben.page.locator("#cited .is-evidence")
        ben.press("m")
        expect(ben.page.locator("#line")).to_contain_text("Select a sentence of the passage first, or go to one")
        ben.press("g", "m")
        expect(marked).to_have_text(CLAIMS[0])
        expect(ben.page.locator("#pair-evidence")).to_have_text(f"Evidence in {sentence_name(ben)}")
        ben.press("m")
        expect(marked).to_have_count(0)
        ben.press("Control+z")
        expect(marked).to_have_text(CLAIMS[0])
        ben.page.locator("#cited").evaluate("(host) => (host.scrollTop = 0)")
        ben.page.locator("#cited [data-at='1']").select_text()
        button.click()
        expect(marked).to_have_attribute("data-at", "1")
        expect(button).to_have_attribute("aria-pressed", "true")
        assert axe(ben.page) == []
        ben.saved()
        ben.page.reload()
        expect(marked).to_have_attribute("data-at", "1")
        ben.press("1")
        ben.saved()
        assert set(WorkingSupport.objects.values_list("label", "evidence")) == {(2, 1)}
        assert ben.console_errors == []


def sentence_name(judge: JudgingDesk) -> str:
    at = judge.page.locator("#cited [data-at][aria-current=true]").get_attribute("data-at")
    return f"S{int(at or 0) + 1}"


def test_the_answer_folds_to_the_sentence_and_its_neighbours(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch, viewport=SMALL) as ben:
        fold = ben.page.get_by_role("button", name="Fold to the sentence and its neighbours")
        fold.click()
        expect(fold).to_have_attribute("aria-pressed", "true")
        shown = ben.page.locator("#answer .sentence:visible .sentence-text")
        expect(shown).to_have_text(list(CLAIMS[:2]))
        ben.press(*"111")
        expect(shown).to_have_text(list(CLAIMS))
        fold.click()
        expect(shown).to_have_count(3)


def test_without_help_nothing_says_where_to_look(world: JudgeWorld, visit: Visit) -> None:
    Protocol.objects.update(place_help=False)
    with visit(world.scratch, viewport=SMALL) as ben:
        assert ben.page.locator("#places, [data-places], [data-key=place-previous]").count() == 0
        ben.press("g")
        assert ben.page.locator("#cited [aria-current]").count() == 0
        expect(ben.page.locator("#line")).to_contain_text("Search the passage first")


def test_a_task_over_long_documents_by_keyboard_alone(world: JudgeWorld, visit: Visit) -> None:
    """Walk (b): six citations of documents of 3,000 words, each read at its place and labelled: two keys a citation."""
    pressed = 0
    with visit(world.scratch, viewport=SMALL) as ben:
        for text, cited in zip(CLAIMS, CITED, strict=True):
            for _ in range(cited):
                expect(ben.page.locator("#pair-sentence")).to_have_text(text)
                ben.press("g")
                place_is(ben, text)
                ben.press("1")
                pressed += 2
        expect(ben.page.locator("#progress")).to_contain_text("6 of 6 judged")
        ben.submit()
        assert ben.console_errors == []
    assert pressed == 2 * sum(CITED)
    assert SupportJudgment.objects.filter(judge__user=world.people["ben"]).count() == sum(CITED)
    assert Task.objects.get(pk=world.scratch.pk).state == "submitted"
