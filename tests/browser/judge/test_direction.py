"""Acceptance check 103: each sentence and each nugget runs as its own text does, with its number at its start."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Sentence
from tests.browser.judge.judging_desk import Visit
from tests.worlds.judging_desk import JudgeWorld, make_judge_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

ARABIC = "النواعير ترفع ماء النهر إلى الحقول"
NUGGETS = (("a wheel lifts water", "vital"), (ARABIC, "okay"), ("P12 ترفع", "vital"))


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    """Nuggets of two languages; the second sentence of each answer is Arabic."""
    made = make_judge_world(tmp_path, runs=2, nuggets=NUGGETS)
    Sentence.objects.filter(index=1).update(text=ARABIC)
    return made


def direction(part: Locator) -> str:
    found: str = part.evaluate("(one) => getComputedStyle(one).direction")
    return found


def is_left_of(left: Locator, right: Locator) -> bool:
    boxes: list[Any] = [
        part.evaluate(
            "(one) => { const text = document.createRange(); text.selectNodeContents(one);"
            " const { left, right } = text.getBoundingClientRect(); return [left, right]; }"
        )
        for part in (left, right)
    ]
    return bool(boxes[0][1] <= boxes[1][0] + 1)


@pytest.mark.parametrize("size", [(1440, 900), (390, 800)], ids=str)
def test_arabic_runs_from_the_right_with_its_number_there(
    world: JudgeWorld, visit: Visit, size: tuple[int, int]
) -> None:
    with visit(world.assign, viewport={"width": size[0], "height": size[1]}) as ann:
        expect(ann.page.locator("#answer-text .sentence")).to_have_count(2)
        english, arabic = ann.page.locator("#answer-text .sentence").all()
        assert (direction(english), direction(arabic)) == ("ltr", "rtl")
        assert is_left_of(english.locator(".sentence-number"), english.locator(".sentence-text"))
        assert is_left_of(arabic.locator(".sentence-text"), arabic.locator(".sentence-number"))
        ann.desk("desk.shell.panes.show('rows')")
        rows = {row.locator(".row-text").inner_text(): row for row in ann.page.locator("#label-rows .row").all()}
        for text, row in rows.items():
            is_arabic = text == ARABIC
            assert direction(row.locator(".row-text")) == ("rtl" if is_arabic else "ltr")
            number, row_text = row.locator(".row-number"), row.locator(".row-text")
            assert is_left_of(row_text, number) if is_arabic else is_left_of(number, row_text)
        assert len(rows) == 3


def test_in_arabic_the_left_arrow_goes_on(world: JudgeWorld, visit: Visit) -> None:
    Sentence.objects.update(text=ARABIC)
    with visit(world.assign) as ann:
        ann.press("w", "ArrowUp", "ArrowLeft")
        expect(ann.page.locator("#s-1")).to_be_focused()
        ann.press("ArrowRight")
        expect(ann.page.locator("#s-0")).to_be_focused()


def test_the_sentence_that_is_judged_runs_as_its_text_does(world: JudgeWorld, visit: Visit) -> None:
    Sentence.objects.filter(index=0).update(text=ARABIC)
    Sentence.objects.filter(index=1).update(text="A wheel lifts water.")
    with visit(world.shown) as ann:
        expect(ann.page.locator("#pair-sentence")).to_have_text(ARABIC)
        assert direction(ann.page.locator("#pair-sentence")) == "rtl"
        assert [direction(sentence) for sentence in ann.page.locator(".sentence").all()] == ["rtl", "ltr"]
        assert direction(ann.page.locator(".cited-paragraph")) == "ltr"
