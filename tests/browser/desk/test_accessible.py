"""Acceptance check 36: every page of an assessor, as an auditor looks at it. The states of the shell are in
test_shell_focus; here it is the pages with work in them, at every size, spacing and theme.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Task
from evaluation.stages import MANUAL
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from tests.assessor.desk_client import Window
from tests.browser import accessibility
from tests.browser.nugget_desk import signed_in
from tests.worlds.desk import DeskWorld, make_desk_world, make_task

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

WIDE, ZOOMED, HALF = (1440, 900), (320, 256), (1280, 1024)


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """A desk with a nugget in every state, a list by hand that was submitted and reopened, a task not started."""
    made = make_desk_world(tmp_path, drafts=9)
    work_on(Window(made.client(), made.post_edit).open(), made)
    by_hand = Window(made.client(), made.manual).open()
    for number in (1, 2):
        by_hand.do("add", key=f"n{number}", text=f"fact {number} about dams", importance=number, evidence=[])
    assert by_hand.submit().status_code == 200
    by_hand.post("hold/", {"window": by_hand.window, "want": "release"})
    order = TaskChange(Change.REOPEN, (made.manual.public_id,), "Please look at P4 again.")
    assert change_tasks(campaign=made.campaign, order=order, actor=made.people["olga"]).changed
    make_task(made.campaign, made.people["ann"], "t3", MANUAL)
    return made


def work_on(desk: Window, world: DeskWorld) -> None:
    """Keep, reject, reword, merge, split, add, link and read."""
    place = {"segment": world.segments()[0].public_id, "sentence": 1}
    desk.do("decide", {"d1": 1}, key="d1", decision="kept")
    desk.do("importance", {"d1": 2}, key="d1", importance=2)
    desk.do("link", {"d1": 3}, key="d1", **place)
    desk.do("decide", {"d2": 1}, key="d2", decision="rejected")
    desk.do(
        "edit", {"d3": 1}, key="d3", text="a wording of its own that is long enough for more than two lines " * 4
    )
    desk.do("merge", {"d4": 1, "d5": 1}, key="m", from_=["d4", "d5"], text="both", importance=1, evidence=[])
    parts = [{"key": key, "text": f"part {key}", "importance": 1} for key in ("s1", "s2")]
    desk.do("split", {"d6": 1}, from_="d6", into=parts)
    desk.do("mark", segment=place["segment"], mark="read")
    desk.post("hold/", {"window": desk.window, "want": "release"})


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer, world: DeskWorld) -> Iterator[Page]:
    context = signed_in(chromium, live_server, world.client())
    yield context.new_page()
    context.close()


def look(page: Page, size: tuple[int, int], css: str = "", *, dark: bool = False) -> list[str]:
    """Look at a page at one size, in one style; at both panes of a desk where only one is shown."""
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    accessibility.dress(page, css)
    found = []
    switch = page.locator(".desk-switch button")
    for pane in range(switch.count() if switch.first.is_visible() else 1):
        if switch.first.is_visible():
            switch.nth(pane).click()
        found += accessibility.layout(page)
        if not css:
            found += accessibility.axe(page, only_contrast=dark)
    accessibility.dress(page)
    return [f"{size} {'dark' if dark else ''}{css[:12]}: {problem}" for problem in found]


def audit(page: Page) -> list[str]:
    found = accessibility.tree(page)
    found += look(page, WIDE) + look(page, WIDE, dark=True)
    found += look(page, ZOOMED) + look(page, ZOOMED, dark=True)
    found += look(page, HALF, accessibility.ZOOMED_TEXT)
    found += look(page, HALF, accessibility.SPACED_TEXT) + look(page, ZOOMED, accessibility.SPACED_TEXT)
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    return found


def open_desk(page: Page, task: Task) -> None:
    page.goto(f"/desk/{task.public_id}/")
    page.wait_for_selector("body[data-ready]")


def test_post_editing_is_accessible_in_every_way(page: Page, world: DeskWorld) -> None:
    open_desk(page, world.post_edit)
    assert audit(page) == []


def test_post_editing_with_everything_open_is_accessible_in_every_way(page: Page, world: DeskWorld) -> None:
    open_desk(page, world.post_edit)
    page.get_by_label("Search the passages").fill("water")
    page.locator(".passage .s").first.click()
    page.keyboard.press("Control+Enter")
    page.locator("#submit-problems").wait_for()
    for key in ("m", "ArrowDown", "m", "Shift+M"):
        page.keyboard.press(key)
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.press("Enter")
    page.get_by_text("A nugget needs a text.").wait_for()
    page.locator("#rejected > summary").click()
    for key in ("d3", "m"):
        page.locator(f"#n-{key}").focus()
        page.keyboard.press("d")
    page.keyboard.press("l")
    page.keyboard.type("P99 S1")
    page.keyboard.press("Enter")
    page.get_by_text("There is no P99 S1.").wait_for()
    assert audit(page) == []


def test_writing_by_hand_is_accessible_in_every_way(page: Page, world: DeskWorld) -> None:
    open_desk(page, world.manual)
    assert audit(page) == []


def test_the_pages_around_a_desk_are_accessible_in_every_way(page: Page, world: DeskWorld) -> None:
    started, reopened = (task.public_id for task in (world.post_edit, world.manual))
    start = Task.objects.get(topic__topic_id="t3").public_id
    tails = ["", f"{start}/", f"{started}/history/", f"{reopened}/history/", f"{started}/review/", "keys/"]
    found = []
    for tail in tails:
        page.goto(f"/desk/{tail}")
        page.evaluate("for (const fold of document.querySelectorAll('main details')) fold.open = true")
        found += [f"{tail}: {problem}" for problem in audit(page)]
    assert found == []
