"""The nugget desks for fingers, and where the row that keys act on is out of view."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Segment
from tests.browser.accessibility import SMALL_TARGETS
from tests.browser.nugget_desk import NuggetDesk, open_desk, signed_in
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

TELEPHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ARABIC = "النواعير ترفع ماء النهر إلى الحقول. يدور الدولاب مع التيار. الدلاء تصب الماء في الساقية."


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages, and eight drafts."""
    return make_desk_world(tmp_path, drafts=8)


@pytest.fixture(params=["post_edit", "manual"])
def by_touch(
    world: DeskWorld, chromium: Browser, live_server: LiveServer, request: pytest.FixtureRequest
) -> Iterator[NuggetDesk]:
    context = signed_in(chromium, live_server, world.client(), **TELEPHONE)
    yield open_desk(context, world, getattr(world, request.param))
    context.close()


def test_fingers_find_targets_of_44_px_no_keys_and_the_next_act(by_touch: NuggetDesk) -> None:
    page = by_touch.page
    for pane in ("Judge", "Read"):
        page.get_by_role("button", name=pane, exact=True).tap()
        assert page.evaluate(SMALL_TARGETS) == []
        expect(page.locator("kbd:visible")).to_have_count(0)
        expect(page.get_by_role("button", name="Submit topic")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        head = page.locator("main :is(.rows-head, .read-tools):visible").bounding_box()
        switch = page.locator(".desk-switch button").first.bounding_box()
        assert head is not None
        assert switch is not None
        assert switch["y"] + switch["height"] <= head["y"] + 1


@pytest.fixture
def zoomed(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    context = signed_in(chromium, live_server, world.client(), viewport={"width": 640, "height": 360})
    yield open_desk(context, world, world.post_edit)
    context.close()


@pytest.mark.parametrize("key", ["1", "2", "a", "x", "0"])
def test_a_key_about_a_row_out_of_view_brings_it_into_view(zoomed: NuggetDesk, key: str) -> None:
    page = zoomed.page
    page.get_by_role("button", name="Read", exact=True).click()
    before = zoomed.decisions()
    zoomed.press(key)
    zoomed.is_on("N1")
    expect(page.locator("#line [data-text]")).to_have_text("N1 was out of view: press the key again")
    page.mouse.wheel(0, 1500)
    expect(zoomed.first_row).not_to_be_in_viewport()
    zoomed.press(key)
    expect(zoomed.first_row).to_be_in_viewport()
    assert zoomed.decisions() == before
    zoomed.press("1")
    zoomed.is_on("N2")


def test_keys_about_the_passages_act_where_these_are_in_view(zoomed: NuggetDesk) -> None:
    zoomed.page.get_by_role("button", name="Read", exact=True).click()
    zoomed.press("]", "r")
    expect(zoomed.page.locator("article.passage h3").first).to_contain_text("read")


def test_in_arabic_the_left_arrow_goes_on(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> None:
    Segment.objects.exclude(text="").update(text=ARABIC)
    context = signed_in(chromium, live_server, world.client())
    ann = open_desk(context, world, world.post_edit)
    sentences = ann.page.locator("article.passage .s")
    ann.press("]")
    for key, at in (("ArrowLeft", 1), ("ArrowLeft", 2), ("ArrowRight", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        ann.press(key)
        expect(sentences.nth(at)).to_be_focused()
    ann.press("Shift+ArrowLeft", "Shift+ArrowLeft")
    expect(ann.page.locator("#read-bar-what")).to_have_text("P1 S2 to P1 S3")
    context.close()
