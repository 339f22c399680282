"""Working at a desk with the keyboard alone, and reading what it shows."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import WorkingNugget
from evaluation.models import Task
from evaluation.terms import TaskState
from tests.worlds.desk import DeskWorld

CALM = 20_000  # milliseconds that a busy machine may need for what a person does not wait for
LAST_WORDS = 300
DRAIN = """async () => {
  const { save } = await (await import("/static/js/nuggets/main.js")).desk;
  save.drained();
}"""
UNSENT = "async () => (await (await import('/static/js/nuggets/main.js')).desk).save.state()"
A_LOOK = 20
MOST_TABS = 40


class Hands:
    """Ann at one of her desks. She has no mouse."""

    def __init__(self, page: Page, task: Task) -> None:
        self.page = page
        self.task = task
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "console",
            lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None,
        )

    def open(self) -> "Hands":
        """Open the task as its link does, and wait until the desk is ready."""
        self.page.goto(f"/desk/{self.task.public_id}/")
        return self.ready()

    def ready(self) -> "Hands":
        """Wait until the desk's scripts run."""
        self.page.locator("body[data-ready]").wait_for(state="attached")
        return self

    def reload(self) -> "Hands":
        """Load the page again."""
        self.page.reload()
        return self.ready()

    def press(self, *chords: str) -> None:
        """Press keys one after the other."""
        for chord in chords:
            self.page.keyboard.press(chord)

    def type(self, text: str) -> None:
        """Type text where the focus is."""
        self.page.keyboard.type(text)

    def retype(self, text: str) -> None:
        """Put a text in place of what stands in the field in focus."""
        self.press("Control+a")
        self.type(text)

    def tab_to(self, selector: str) -> None:
        """Press Tab until something has the focus."""
        for _ in range(MOST_TABS):
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not lead to {selector}")

    def submit(self) -> None:
        """Ask to submit, and answer the question."""
        self.press("Control+Enter")
        question = self.page.get_by_role("heading", name="Have you completed this topic?")
        expect(question).to_be_focused(timeout=CALM)
        self.tab_to("dialog [data-do=submit]")
        self.press("Enter")
        expect(self.page.locator("body[data-submitted][data-ready]")).to_be_attached(timeout=CALM)
        self.task.refresh_from_db()
        assert self.task.state == TaskState.SUBMITTED

    def is_on(self, name: str) -> None:
        """Wait until a row, called by its number, has the focus."""
        row = self.page.locator(".row", has=self.page.get_by_role("heading", name=name, exact=True))
        expect(row).to_be_focused(timeout=CALM)

    def shown(self) -> list[str]:
        """The texts of the list on screen."""
        return self.page.locator("#nugget-rows > .row .row-text").all_text_contents()

    def counts(self) -> str:
        """What stands at the head of the list."""
        return self.page.locator("#rows-counts").inner_text()

    def said(self, text: str) -> None:
        """Wait until the desk has said something to screen readers."""
        expect(self.page.locator("#status")).to_contain_text(text, timeout=CALM)

    def saved(self) -> None:
        """Wait until everything has its receipt."""
        drained(self.page)
        expect(self.page.locator(".row-saving:visible")).to_have_count(0, timeout=CALM)

    def stored(self, *decisions: str) -> list[WorkingNugget]:
        """What is in the database, in the order of the list."""
        rows = WorkingNugget.objects.filter(task=self.task, decision__in=decisions or ["kept", "undecided"])
        return list(rows.order_by("position", "key"))

    def texts(self, *decisions: str) -> list[str]:
        """The texts in the database, in the order of the list."""
        return [row.text for row in self.stored(*decisions)]


def drained(page: Page) -> None:
    """Have a desk send everything, and wait until it has every receipt, though not for ever."""
    page.evaluate(DRAIN)
    end = time.monotonic() + CALM / 1000
    while (state := page.evaluate(UNSENT))["unsent"]:
        assert time.monotonic() < end, f"not saved within {CALM / 1000:g} s: {state}"
        page.wait_for_timeout(A_LOOK)


@contextmanager
def stopped_clock(page: Page) -> Iterator[None]:
    """Stop a page's clock, to see what it shows within a time, however busy the machine is: `page.clock.run_for`."""
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(seconds=1))
    yield
    page.clock.resume()


@contextmanager
def desk_of(browser: Browser, live_server: LiveServer, world: DeskWorld, task: Task) -> Iterator[Hands]:
    """Ann signed in, at a task of hers that is started."""
    client = world.client("ann")
    client.post(f"/desk/{task.public_id}/start/")
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1440, "height": 900})
    context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )
    hands = Hands(context.new_page(), task)
    try:
        yield hands.open()
    finally:
        # What the page sends on its way out must have been answered before the database is emptied.
        hands.page.goto("about:blank")
        hands.page.wait_for_timeout(LAST_WORDS)
        context.close()
