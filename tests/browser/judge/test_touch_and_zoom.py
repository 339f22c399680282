"""The judging desks for fingers, and where the row that keys act on is out of view."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import SMALL_TARGETS
from tests.browser.judge.judging_desk import Visit
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

TELEPHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
AT_200_PERCENT = {"width": 640, "height": 360}


@pytest.mark.parametrize("name", ["assign", "scratch", "shown"])
def test_fingers_find_targets_of_44_px_no_keys_and_finish(world: JudgeWorld, visit: Visit, name: str) -> None:
    with visit(getattr(world, name), **TELEPHONE) as judge:
        page = judge.page
        for pane in ("Read", "Judge"):
            page.get_by_role("button", name=pane, exact=True).tap()
            assert page.evaluate(SMALL_TARGETS) == []
            expect(page.locator("kbd:visible")).to_have_count(0)
            expect(page.get_by_role("button", name="Finish answer")).to_be_in_viewport(ratio=1)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_no_key_labels_a_row_that_is_out_of_view(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign, viewport=AT_200_PERCENT) as ann:
        page = ann.page
        page.get_by_role("button", name="Read", exact=True).click()
        for key in ("1", "x", "0"):
            page.get_by_role("button", name="Read", exact=True).click()
            ann.press(key)
            ann.is_on("N1")
            assert page.locator("#rows input:checked, .row-box").count() == 0
        page.mouse.wheel(0, 1500)
        expect(page.locator(".row").first).not_to_be_in_viewport()
        ann.press("1")
        expect(page.locator(".row").first).to_be_in_viewport()
        assert ann.checked() == []
        ann.press("1")
        assert ann.checked() == ["support"]
        ann.saved()


@pytest.mark.parametrize("name", ["scratch", "shown"])
def test_no_key_labels_a_pair_that_is_out_of_view(world: JudgeWorld, visit: Visit, name: str) -> None:
    with visit(getattr(world, name), viewport=AT_200_PERCENT) as judge:
        judge.page.get_by_role("button", name="Read", exact=True).click()
        judge.press("1")
        expect(judge.page.locator("#pair")).to_be_focused()
        assert judge.labels() == {}
        judge.press("1")
        expect(judge.page.locator("#pair-number")).to_contain_text("Pair 2 of")
        judge.saved()


def test_the_highlighted_row_covers_no_other(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign, viewport={"width": 1280, "height": 420}) as ann:
        for key in ("ArrowDown", "ArrowUp"):
            for _ in range(15):
                ann.press(key)
                ann.page.wait_for_timeout(40)
                covered = ann.page.evaluate(COVERED)
                assert covered == [], f"{key}: {covered}"


COVERED = """() => {
  const lit = document.querySelector("#label-rows > .row.is-current");
  const box = lit.getBoundingClientRect();
  return [...document.querySelectorAll("#label-rows > .row")].filter((row) => {
    const other = row.getBoundingClientRect();
    return row !== lit && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 2;
  }).map((row) => row.innerText);
}"""


def test_finishing_stays_at_the_end_of_the_bar(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign, viewport={"width": 1280, "height": 720}) as ann:
        finish = ann.page.locator("[data-act=finish]")
        edges = []
        for _ in range(2):
            box = finish.bounding_box()
            assert box is not None
            edges.append(round(box["x"] + box["width"]))
            ann.label_all("support")
            expect(finish).to_contain_text("Review and submit")
        assert edges[0] == edges[1]
