"""The desk for those who do not see or point: order and sight of the focus, names, and axe in every state."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Protocol
from tests.browser.accessibility import axe
from tests.browser.nugget_desk import NuggetDesk, open_desk, signed_in
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

IN_ORDER = ["skip", "desk-head", "passages", "desk-split", "rows", "actions"]

# Where the focus is; whether its ring can be seen; whether anything that sticks lies over it.
LOOK = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const region = e.closest(".skip, .desk-head, #passages, .desk-split, #rows, #actions, .desk-notices, .desk-switch");
  const box = e.getBoundingClientRect();
  const style = getComputedStyle(e);
  const points = [[box.left + 2, box.top + 2], [box.right - 3, box.top + 2], [box.left + 2, box.bottom - 3],
    [box.right - 3, box.bottom - 3], [(box.left + box.right) / 2, (box.top + box.bottom) / 2]];
  const over = (one) => {
    for (let up = one; up; up = up.parentElement) {
      if (up.contains(e)) return null;
      if (["sticky", "fixed"].includes(getComputedStyle(up).position)) return up.className || up.id;
    }
    return null;
  };
  const hit = points.map(([x, y]) => document.elementFromPoint(x, y)).filter((one) => one && !e.contains(one));
  return {
    region: region ? region.id || region.classList[0] : e.tagName,
    name: (e.id || e.dataset.act || e.textContent.trim().slice(0, 30)),
    row: e.matches("[data-keys~=row]"),
    ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    inView: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    covered: hit.map(over).filter(Boolean),
  };
}"""

UNNAMED = """() => {
  const words = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}+ ]/gu, " ").split(/\\s+/).filter(Boolean);
  const controls = [...document.querySelectorAll("button, a[href], summary, [role=button]")];
  const wrong = [];
  for (const e of controls.filter((one) => one.checkVisibility())) {
    const ids = e.getAttribute("aria-labelledby")?.split(" ") ?? [];
    const label = e.getAttribute("aria-label") ?? ids.map((id) => document.getElementById(id)?.textContent).join(" ");
    const seen = e.cloneNode(true);
    for (const hidden of seen.querySelectorAll(".visually-hidden, [aria-hidden=true], [hidden]")) hidden.remove();
    if (!e.textContent.trim() && !label) wrong.push(e.outerHTML.slice(0, 120));
    const missing = label ? words(seen.textContent).filter((word) => !words(label).includes(word)) : [];
    if (missing.length) wrong.push(e.outerHTML.slice(0, 120));
  }
  return wrong;
}"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Ann's two tasks behind the live server: 20 passages, 20 drafts, so that both panes scroll."""
    made = make_desk_world(tmp_path, passages=20, drafts=20)
    Protocol.objects.update(guidelines="# Nuggets\n\nOne *fact* each, see [the paper](https://example.org/).\n")
    return made


@pytest.fixture
def context(chromium: Browser, live_server: LiveServer, world: DeskWorld) -> Iterator[BrowserContext]:
    made = signed_in(chromium, live_server, world.client())
    yield made
    made.close()


def press(page: Page, key: str) -> Any:
    """Press a key; return what is seen of the focus once the page is drawn."""
    page.keyboard.press(key)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate(LOOK)


def tabbed(page: Page, most: int = 150) -> list[dict[str, Any]]:
    """Press Tab through the whole page; return what was seen at each stop."""
    page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges()")
    page.evaluate("document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex')")
    stops: list[dict[str, Any]] = []
    for _ in range(most):
        stop = press(page, "Tab")
        if stop is None or (stops and stop["region"] == "skip" and stops[-1]["region"] == "actions"):
            return stops
        stops.append(stop)
    raise AssertionError(f"more than {most} tab stops: {stops[-5:]}")


@pytest.mark.parametrize("by_hand", [False, True], ids=["post-edit", "manual"])
def test_tab_goes_through_the_desk_in_order(context: BrowserContext, world: DeskWorld, by_hand: bool) -> None:
    desk = open_desk(context, world, world.manual if by_hand else world.post_edit)
    stops = tabbed(desk.page)
    assert [region for region, _ in groupby(stop["region"] for stop in stops)] == IN_ORDER
    assert [stop["name"] for stop in stops[:3]] == [
        "Skip to the passages",
        "Skip to the nuggets",
        "Skip to the actions",
    ]
    assert sum(stop["row"] for stop in stops) <= 1


@pytest.mark.parametrize(
    "size",
    [(1440, 900), (1000, 600), (390, 700), (320, 256)],
    ids=str,
)
def test_the_focus_is_seen_at_every_stop_and_never_under_a_bar(
    context: BrowserContext, world: DeskWorld, size: tuple[int, int]
) -> None:
    desk = open_desk(context, world, world.post_edit)
    desk.page.set_viewport_size({"width": size[0], "height": size[1]})
    for pane in ("Read", "Judge") if size[0] < 900 else ("",):
        if pane:
            desk.page.get_by_role("button", name=pane, exact=True).click()
        stops = tabbed(desk.page)
        assert len(stops) > 15
        assert [stop for stop in stops if not (stop["ring"] and stop["inView"]) or stop["covered"]] == []


def test_rows_reached_by_arrows_are_never_under_a_bar(context: BrowserContext, world: DeskWorld) -> None:
    desk = open_desk(context, world, world.post_edit)
    desk.page.set_viewport_size({"width": 1000, "height": 500})
    desk.first_row.focus()
    for key in ["ArrowDown"] * 19 + ["ArrowUp"] * 19:
        stop = press(desk.page, key)
        assert stop["row"]
        assert stop["inView"]
        assert stop["covered"] == []


@pytest.mark.parametrize("by_hand", [False, True], ids=["post-edit", "manual"])
def test_every_name_contains_the_words_that_are_seen(
    context: BrowserContext, world: DeskWorld, by_hand: bool
) -> None:
    desk = open_desk(context, world, world.manual if by_hand else world.post_edit)
    assert desk.page.evaluate(UNNAMED) == []
    if not by_hand:
        desk.first_row.focus()
        assert desk.page.evaluate(UNNAMED) == []


def violations(page: Page, state: str) -> list[str]:
    page.emulate_media(color_scheme="light")
    found = [f"{state}: {problem}" for problem in axe(page)]
    page.emulate_media(color_scheme="dark")
    found += [f"{state}, dark: {problem}" for problem in axe(page, only_contrast=True)]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append(f"{state}: scrolls sideways")
    return found


def states(desk: NuggetDesk) -> Iterator[str]:
    """Bring the page into each state of the shell, one after the other."""
    page = desk.page
    yield "as opened"
    page.locator("[data-narrative] > summary").click()
    yield "narrative"
    page.keyboard.press("Escape")
    page.locator("[data-narrative] > summary").evaluate("(e) => (e.parentElement.open = false)")
    page.locator("[data-timer] > summary").click()
    page.get_by_text("What is recorded, and what is not").click()
    yield "timer"
    page.locator("[data-timer]").evaluate("(e) => (e.open = false)")
    for act, name in (("keys", "key sheet"), ("flag", "flag"), ("guidelines", "drawer"), ("define", "labels")):
        page.locator(f"[data-act={act}]").first.click()
        page.wait_for_timeout(200)
        yield name
        page.keyboard.press("Escape")


@pytest.mark.parametrize("size", [(1440, 900), (320, 256)], ids=str)
def test_axe_finds_nothing_in_any_state_of_the_shell(
    context: BrowserContext, world: DeskWorld, size: tuple[int, int]
) -> None:
    desk = open_desk(context, world, world.post_edit)
    desk.page.set_viewport_size({"width": size[0], "height": size[1]})
    found = [problem for state in states(desk) for problem in violations(desk.page, state)]
    if size[0] < 900:
        desk.page.get_by_role("button", name="Judge", exact=True).click()
        found += violations(desk.page, "judging")
    assert found == []


@pytest.mark.parametrize("size", [(1440, 900), (320, 640)], ids=str)
def test_axe_finds_nothing_on_the_pages_of_keys_and_guidelines(
    context: BrowserContext, world: DeskWorld, size: tuple[int, int]
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("/desk/keys/")
    found = violations(page, "keys")
    page.get_by_label("Keep with its own importance").fill("x")
    page.get_by_role("button", name="Save").click()
    found += violations(page, "keys with an error")
    page.goto(f"/desk/{world.post_edit.public_id}/guidelines/")
    found += violations(page, "guidelines")
    assert found == []
