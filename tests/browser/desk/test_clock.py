"""The desk's clock in a real browser: its script, on a clock of the test's own, against the server's side of it.

The browser's time is moved by hand, and every beat is answered by Django at the same moment of a made-up day. So half
an hour takes a second, and what is credited can be told to the second.
"""

import json
import re
from collections.abc import Iterator
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client
from playwright.sync_api import Browser, Page, Route

from assessor.desk.context import open_desk
from assessor.models import Desk, TimeSegment
from assessor.rules.clock import SECOND, Times, limit_of, measure
from assessor.timing.times import SEGMENT_FIELDS, stretch_of
from evaluation.models import Task
from evaluation.stages import POST_EDIT
from evaluation.terms import SegmentKind
from tests.assessor.timing.clock_tabs import MORNING
from tests.worlds.desk import make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db, pytest.mark.xdist_group("browser")]

ORIGIN = "http://desk.test"
WITHIN = 2  # seconds
STEP = 5  # seconds; the script's own tick
MINUTE, HOUR = 60, 3600
PAGE = """<!doctype html><html lang="en"><title>Desk</title><body>
<header><button id="else">Header</button>
<details data-timer><p><strong data-timer-value></strong></p></details></header>
<main><section id="passages"><article data-words="500" data-segment="p1"><p tabindex="-1">A passage.</p></article>
</section><section id="rows"><li data-key="d1"><p class="row-text">ROWWORDS</p><kbd data-key="keep">a</kbd>
<textarea aria-label="Text"></textarea></li></section></main>
<p id="status" role="status"></p>
LINE
<script type="module">
import { Clock } from "/static/js/desk/clock.js";
import { Session } from "/static/js/saving/session.js";
const session = new Session({ urls: {}, user: "", csrf: "token" });
const post = (...request) => session.post(...request);
const urls = { beat: "/desk/TASK/beat/", gap: "/desk/TASK/gap/" };
window.clock = new Clock({ urls, window: "WINDOW", post, place: () => ({ row: "d1" }) });
window.told = [];
for (const type of ["beat", "lost", "state"]) clock.addEventListener(type, (e) => told.push([type, e.detail]));
clock.start();
</script></body></html>"""
HIDE = """window.__hidden = false;
Object.defineProperty(document, "hidden", { get: () => window.__hidden });"""


@dataclass
class Desktop:
    """A page with the clock, and the server that answers it. `at` is the second of the day."""

    page: Page
    client: Client
    task: Task
    window: str = "window-1"
    at: float = 0
    connected: bool = True
    bodies: list[dict[str, Any]] = field(default_factory=list)
    line: str = field(default_factory=lambda: render_to_string("assessor/desk_line.html"))
    # Playwright answers in a context of its own, in which Django would open another connection to the database.
    context: Context = field(default_factory=copy_context)

    def open(self) -> "Desktop":
        self.page.clock.install(time=MORNING - timedelta(minutes=1))
        self.page.clock.pause_at(MORNING + timedelta(seconds=self.at))
        self.page.add_init_script(HIDE)
        self.page.route(f"{ORIGIN}/**", self._serve)
        self.page.goto(f"{ORIGIN}/")
        self.page.wait_for_function("window.told?.length > 0")
        return self

    def _serve(self, route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        if path.startswith("/static/"):
            file = Path(settings.BASE_DIR) / path.removeprefix("/")
            route.fulfill(body=file.read_text("utf-8"), content_type="text/javascript")
        elif path.startswith("/desk/"):
            self._answer(route, path)
        else:
            html = (
                PAGE.replace("ROWWORDS", "word " * 15)
                .replace("TASK", self.task.public_id)
                .replace("WINDOW", self.window)
                .replace("LINE", self.line)
            )
            route.fulfill(body=html, content_type="text/html")

    def _answer(self, route: Route, path: str) -> None:
        if not self.connected:
            route.abort()
            return
        body: dict[str, Any] = route.request.post_data_json or {}
        self.bodies.append(body)
        with time_machine.travel(MORNING + timedelta(seconds=self.at), tick=False):
            response = self.context.run(self.client.post, path, body, content_type="application/json")
        assert response.status_code == 200, (response.content, body)
        route.fulfill(status=response.status_code, body=response.content, content_type="application/json")

    def wait(self, seconds: float) -> "Desktop":
        """Let time pass on both sides, and every beat be answered."""
        for _ in range(round(seconds / STEP)):
            self.at += STEP
            self.page.clock.run_for(STEP * 1000)
            self.page.evaluate("clock.settled()")
        return self

    def sleep(self, seconds: float) -> None:
        """Close the lid: the clocks go on, and nothing runs."""
        self.at += seconds
        self.page.clock.fast_forward(round(seconds * 1000))
        self.page.evaluate("clock.settled()")

    def read(self, seconds: float) -> "Desktop":
        return self._work("#passages p", seconds)

    def edit(self, seconds: float) -> "Desktop":
        return self._work("textarea", seconds)

    def _work(self, where: str, seconds: float) -> "Desktop":
        for _ in range(round(seconds / 20)):
            self.page.locator(where).click()
            self.page.wait_for_timeout(30)  # a click's selectionchange comes a little later
            self.wait(20)
        return self

    def hide(self, hidden: bool) -> None:
        self.page.evaluate(f"window.__hidden = {json.dumps(hidden)}")
        self.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        self.page.evaluate("clock.settled()")

    def times(self) -> Times:
        """The figures from what the server stored, once the page has said all."""
        self.page.evaluate("clock.flush()")
        rows = TimeSegment.objects.filter(task=self.task).values_list(*SEGMENT_FIELDS)
        return measure([stretch_of(*row) for row in rows], limit_of(self.task.stage))

    def details(self, kind: str) -> list[Any]:
        return [detail for name, detail in self.page.evaluate("told") if name == kind]

    def kinds(self) -> list[str]:
        """The kinds of the stored stretches in order, without empty ones, each once in a row."""
        rows = TimeSegment.objects.filter(task=self.task).order_by("started_at", "number")
        kinds = [segment.kind for segment in rows if segment.ended_at > segment.started_at]
        return [kind for index, kind in enumerate(kinds) if index == 0 or kinds[index - 1] != kind]


@pytest.fixture
def desk(chromium: Browser, tmp_path: Path) -> Iterator[Desktop]:
    """Ann's topic to post-edit, open in a window."""
    with time_machine.travel(MORNING - timedelta(minutes=1), tick=False):
        world = make_desk_world(tmp_path)
        client = world.client("ann")
    with time_machine.travel(MORNING, tick=False):
        open_desk(task=world.post_edit.public_id, user=world.people["ann"])
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    problems: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield Desktop(page, client, Task.objects.get(pk=world.post_edit.pk)).open()
    context.close()
    assert not problems


def near(milliseconds: int, seconds: float) -> bool:
    return abs(milliseconds / SECOND - seconds) <= WITHIN


def test_17_five_minutes_of_reading_without_touching_anything(desk: Desktop) -> None:
    desk.read(20).wait(285).read(20)
    assert near(desk.times().active.point, 325)
    assert near(desk.times().active.low, 325)
    assert not desk.details("beat")[-1]["gap"]
    assert desk.page.locator("[data-timer-value]").text_content() == "5 min"


@pytest.mark.parametrize(
    ("answer", "point"), [("I was away", 60), ("I was reading", 60 + 1800), ("Dismiss", 60 + 309)]
)
def test_18_half_an_hour_away_is_asked_about_once(desk: Desktop, answer: str, point: float) -> None:
    """The limit is 309 s: 500 words of the passage and 15 of the row."""
    desk.edit(20).wait(1780)
    desk.edit(40)
    bar = desk.page.locator('[data-notice="gap"]')
    assert re.match("Quiet for (29|30) min:", bar.inner_text())
    bar.get_by_role("button", name=answer).click()
    bar.wait_for(state="hidden")
    desk.edit(20)
    found = desk.times().active
    assert near(found.low, 60)
    assert near(found.point, point)
    assert near(found.high, 60 + 1800)
    assert bar.is_hidden()


def test_20_a_hidden_page_earns_nothing(desk: Desktop) -> None:
    desk.read(40)
    desk.hide(True)
    sent = len(desk.bodies)
    desk.wait(HOUR / 6)
    assert len(desk.bodies) == sent
    desk.hide(False)
    desk.edit(40)
    assert near(desk.times().active.high, 80)
    assert desk.kinds() == ["reading", "hidden", "editing"]


def test_20_sleep_earns_nothing(desk: Desktop) -> None:
    desk.read(40)
    desk.sleep(8 * HOUR)
    desk.edit(40)
    found = desk.times()
    assert near(found.active.high, 80)
    assert near(found.suspended, 8 * HOUR)


def test_20_sleep_with_a_stopped_monotonic_clock_earns_nothing(desk: Desktop) -> None:
    desk.read(40)
    desk.at += HOUR
    desk.page.clock.set_system_time(MORNING + timedelta(seconds=desk.at))
    desk.edit(40)
    assert near(desk.times().active.high, 80)


@pytest.mark.parametrize("change", [HOUR, -HOUR])
def test_20_setting_the_clock_of_the_machine_earns_and_costs_nothing(desk: Desktop, change: int) -> None:
    desk.read(40)
    desk.page.clock.set_system_time(MORNING + timedelta(seconds=desk.at + change))
    desk.read(40)
    assert near(desk.times().active.high, 80)
    assert all(start <= end for start, end in TimeSegment.objects.values_list("started_at", "ended_at"))


def test_reading_and_editing_are_told_apart_by_the_pane(desk: Desktop) -> None:
    desk.read(60).edit(100)
    desk.page.locator("#else").click()
    desk.wait(20)
    found = desk.times()
    assert near(found.reading, 60)
    assert near(found.editing, 120)
    assert set(TimeSegment.objects.filter(kind="editing").values_list("item", flat=True)) >= {"d1"}


def test_a_pause_stops_the_clock_until_work_goes_on(desk: Desktop) -> None:
    desk.edit(20)
    desk.page.evaluate("clock.toggle()")
    bar = desk.page.locator('[data-notice="gap"]')
    assert "Paused" in bar.inner_text()
    desk.wait(20 * MINUTE)
    bar.get_by_role("button", name="Resume").click()
    desk.edit(20)
    desk.page.evaluate("clock.toggle()")
    desk.wait(60)
    desk.page.locator("textarea").press("a")
    desk.edit(20)
    found = desk.times()
    assert near(found.active.high, 60)
    assert near(found.paused, 21 * MINUTE)
    assert [detail["paused"] for detail in desk.details("state")] == [True, False, True, False]


def test_a_lost_connection_is_caught_up_and_tagged(desk: Desktop) -> None:
    desk.edit(60)
    desk.connected = False
    desk.edit(300).read(300)
    assert desk.details("lost")
    desk.connected = True
    desk.edit(60)
    found = desk.times()
    assert near(found.active.point, 720)
    assert abs(found.offline / SECOND - 610) <= 20


def test_a_window_that_only_reads_counts_no_time_until_it_is_used(desk: Desktop) -> None:
    Desk.objects.update(holder="window-2", held_at=MORNING)
    desk.page.evaluate("document.body.toggleAttribute('data-readonly', true)")
    desk.wait(STEP)
    before = TimeSegment.objects.count()
    desk.edit(100)
    assert desk.details("beat")[-1]["holder"] == "other"
    assert TimeSegment.objects.count() == before
    Desk.objects.update(holder="window-1")
    desk.page.evaluate("document.body.toggleAttribute('data-readonly', false)")
    desk.edit(100)
    assert desk.details("beat")[-1]["holder"] == "mine"
    assert abs(desk.times().active.high / SECOND - 100) <= STEP + WITHIN


def test_closing_the_page_sends_what_it_has(desk: Desktop) -> None:
    desk.edit(20).wait(10)
    desk.page.locator("textarea").press("a")
    desk.at += 4
    desk.page.clock.run_for(4000)
    desk.page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))")
    desk.page.evaluate("clock.settled()")
    rows = [stretch_of(*row) for row in TimeSegment.objects.values_list(*SEGMENT_FIELDS)]
    assert near(measure(rows, limit_of(POST_EDIT)).active.high, 34)


def test_a_reloaded_page_counts_on(desk: Desktop) -> None:
    desk.edit(60)
    desk.page.reload()
    desk.page.wait_for_function("window.told?.length > 0")
    desk.edit(60)
    assert near(desk.times().active.high, 120)
    numbers = list(TimeSegment.objects.values_list("number", flat=True))
    assert len(numbers) == len(set(numbers))


def test_words_on_the_screen_are_counted(desk: Desktop) -> None:
    desk.read(20)
    words = TimeSegment.objects.filter(kind=SegmentKind.READING).values_list("words", flat=True)
    assert max(words) == 515
