"""Acceptance checks 37 and 38: while a topic is done by keyboard, everything is said once and the focus is never lost.

The page runs on a clock of the test's own, so that three seconds between two messages take no three seconds.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.accessibility import LiveRegions, record_announcements
from tests.browser.nugget_desk import CALM, NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

DRAFTS = 7
GAP_MS, STEP_MS = 3000, 1000


class Listener(NuggetDesk):
    """Ann, who hears the page. What `press` and `type` give rise to is read with `hears`."""

    announcements: LiveRegions

    def hears(self, *expected: str) -> None:
        """Let the time pass between two messages; what was said since is this, and nothing else."""
        for _ in range(2 * GAP_MS // STEP_MS):
            self.saved()  # else a save under way would seem to take seconds
            self.page.clock.run_for(STEP_MS)
        heard = [text.replace("\u00a0", " ") for text in self.announcements.new_texts()]
        assert heard == list(expected)


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages, and seven proposals."""
    return make_desk_world(tmp_path, drafts=DRAFTS)


@pytest.fixture
def ann(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[Listener]:
    """Ann at the desk, which is opened anew so that it is heard from the first moment."""
    with desk_of(chromium, live_server, world, world.post_edit) as desk:
        listener = Listener(desk.page, desk.task)
        listener.announcements = record_announcements(desk.page)
        desk.page.clock.install()
        listener.reload()
        yield listener


def test_everything_is_said_once_and_nothing_at_each_key(ann: Listener) -> None:
    ann.hears()
    decide(ann)
    shape(ann)
    look_up(ann)
    lose_the_server(ann)
    hurry(ann)
    finish(ann)
    times = ann.announcements.times()
    # The first load's messages and the second's: each has a clock that starts anew.
    assert [after - before for before, after in pairwise(times) if 0 <= after - before < GAP_MS - 50] == []
    assert ann.announcements.lost() == []


def decide(ann: Listener) -> None:
    """Keep, vital, reword, reject: each with what is left to decide, and no word for each letter."""
    ann.press("a")
    ann.hears("N1 kept: 1 vital or 2 okay?")
    ann.press("1")
    ann.hears("N1 kept as vital, 6 undecided")
    ann.press("e")
    ann.retype("rivers carry sand")
    ann.hears()
    ann.press("Escape")
    ann.hears("N2 reworded, 5 undecided")
    ann.press("2")
    ann.hears("N2 kept as okay, 5 undecided")
    ann.press("x")
    ann.hears("N3 rejected, 4 undecided")
    ann.press("Control+z")
    ann.hears("Undone: Decision, N3")
    ann.press("Control+Shift+z")
    ann.hears("Redone: Decision, N3")


def shape(ann: Listener) -> None:
    """Merge, split, add, move and link, with an error on the way."""
    ann.press("u", "m")
    ann.hears("N4 marked, 1 marked")
    ann.press("ArrowDown", "m", "Shift+M")
    ann.hears("N5 marked, 2 marked")
    ann.press("Control+a", "Delete", "Enter")
    ann.hears("A nugget needs a text.")
    ann.type("four and five")
    ann.press("Enter")
    ann.hears("N4 and N5 → N8")
    ann.press("s", "Enter", "Enter")
    ann.hears("N8 split into N9 and N10")
    ann.press("n")
    ann.type("one of my own")
    ann.press("Enter")
    ann.hears("N11 added")
    ann.press("Alt+ArrowUp")
    ann.hears("N11 moved up")
    ann.press("l")
    ann.type("P99 S1")
    ann.press("Enter")
    expect(ann.page.locator(".link-box .problem:visible")).to_contain_text("There is no P99 S1.")
    assert len(ann.announcements.new_texts()) == 1
    ann.retype("P2 S1")
    ann.press("Enter")
    ann.hears("N11 linked to P2 S1")


def look_up(ann: Listener) -> None:
    """Search, step from hit to hit, mark a passage, save."""
    ann.press("/")
    ann.type("Passage 3")
    ann.hears("3 hits in 1 passage")
    ann.press("Enter")
    ann.hears("Hit 1 of 3, P3 S1: " + ann.page.locator(".passage[data-number='3'] .s").first.inner_text())
    ann.press("Escape", "r")
    ann.hears("P3 read, 5 unread")
    ann.press("Escape", "Control+s")
    ann.hears("Everything is saved")


def lose_the_server(ann: Listener) -> None:
    """An outage is said once, though work goes on, and so is its end."""
    ann.page.route("**/ops/", lambda route: route.fulfill(status=503, body="no"))
    ann.press("1")
    # The answer comes in real time; to a clock that runs ahead of it the server would seem slow.
    ann.page.clock.run_for(STEP_MS)
    expect(ann.page.locator("[data-notice=save]")).to_contain_text("could not save", timeout=CALM)
    ann.page.clock.run_for(GAP_MS)
    ann.page.get_by_role("listitem").filter(has_text="one of my own").focus()
    ann.press("2")
    ann.page.clock.run_for(2 * GAP_MS)
    text = " ".join(ann.announcements.new_texts())
    assert text.count("could not save") == 1
    assert (text.count("N11 kept as vital"), text.count("N11 kept as okay")) == (1, 1)
    ann.page.unroute("**/ops/")
    ann.page.get_by_role("button", name="Try now").press("Enter")
    ann.saved()
    ann.page.clock.run_for(GAP_MS)
    text = " ".join(ann.announcements.new_texts())
    assert text.count("changes saved") == 1
    ann.console_errors.clear()  # the browser tells of the answer 503 itself


def hurry(ann: Listener) -> None:
    """What is done faster than it can be said is said together, the newest last."""
    ann.page.locator("#n-d1").focus()
    ann.press("m", "m", "m", "m")
    ann.saved()
    ann.page.clock.run_for(GAP_MS)
    assert ann.announcements.new_texts()[-1].endswith("N1 marked, 1 marked. N1 not marked, 0 marked.")
    ann.hears()


def finish(ann: Listener) -> None:
    """Asking too early names what is missing, once; submitting is said, too."""
    ann.press("Control+Enter")
    expect(ann.page.locator("#submit-problems")).to_be_visible(timeout=CALM)
    ann.page.clock.run_for(GAP_MS)
    (text,) = ann.announcements.new_texts()
    assert text.startswith("Not submitted. 2 undecided")
    ann.press("u", "a", "u", "a")
    for row in ann.page.locator("#nugget-rows > .row").all():
        row.focus()
        ann.press("1")
    ann.page.clock.run_for(2 * GAP_MS)
    ann.announcements.new_texts()
    ann.saved()
    ann.submit()
