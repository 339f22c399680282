"""A desk in a browser: opened, driven by the keyboard, and read on screen and in the database."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
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


class NuggetDesk:
    """A page of one of Ann's desks. `console_errors`: errors and warnings of its scripts."""

    def __init__(self, page: Page, task: Task) -> None:
        self.page = page
        self.task = task
        self.console_errors: list[str] = []
        page.on("pageerror", lambda error: self.console_errors.append(str(error)))
        page.on(
            "console",
            lambda message: (
                self.console_errors.append(message.text) if message.type in ("error", "warning") else None
            ),
        )

    def open(self) -> "NuggetDesk":
        self.page.goto(self.address)
        return self.ready()

    def ready(self) -> "NuggetDesk":
        self.page.locator("body[data-ready]").wait_for(state="attached")
        return self

    def reload(self) -> "NuggetDesk":
        self.page.reload()
        return self.ready()

    def press(self, *chords: str) -> None:
        for chord in chords:
            self.page.keyboard.press(chord)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def retype(self, text: str) -> None:
        """Put a text in place of what stands in the field in focus."""
        self.press("Control+a")
        self.type(text)

    def tab_to(self, selector: str) -> None:
        for _ in range(MOST_TABS):
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not lead to {selector}")

    def submit(self) -> None:
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
        return self.page.locator("#nugget-rows > .row .row-text").all_text_contents()

    def counts(self) -> str:
        return self.page.locator("#rows-counts").inner_text()

    @property
    def address(self) -> str:
        return f"/desk/{self.task.public_id}/"

    @property
    def first_row(self) -> Locator:
        return self.page.locator("#nugget-rows > [data-keys~=row]").first

    def decisions(self) -> list[str | None]:
        """Decisions about the nuggets, as the screen shows them."""
        rows = self.page.locator("#rows [data-keys~=row]").all()
        return [row.get_attribute("data-decision") for row in rows]

    def focused(self, expression: str) -> Any:
        """Evaluate an expression of the element in focus, `e`."""
        return self.page.evaluate(f"(() => {{ const e = document.activeElement; return {expression}; }})()")

    def announces(self, text: str) -> None:
        expect(self.page.locator("#status")).to_contain_text(text, timeout=CALM)

    def saved(self) -> None:
        drained(self.page)
        expect(self.page.locator(".row-saving:visible")).to_have_count(0, timeout=CALM)

    def stored(self, *decisions: str) -> list[WorkingNugget]:
        rows = WorkingNugget.objects.filter(task=self.task, decision__in=decisions or ["kept", "undecided"])
        return list(rows.order_by("position", "key"))

    def texts(self, *decisions: str) -> list[str]:
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


def signed_in(browser: Browser, server: LiveServer, client: Client, **options: Any) -> BrowserContext:
    options.setdefault("viewport", {"width": 1440, "height": 900})
    context = browser.new_context(base_url=server.url, **options)
    session = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": server.url}])
    return context


def open_desk(context: BrowserContext, world: DeskWorld, task: Task) -> NuggetDesk:
    world.client().post(f"/desk/{task.public_id}/start/")
    desk = NuggetDesk(context.new_page(), task)
    return desk.open()


@contextmanager
def desk_of(browser: Browser, live_server: LiveServer, world: DeskWorld, task: Task) -> Iterator[NuggetDesk]:
    context = signed_in(browser, live_server, world.client())
    desk = open_desk(context, world, task)
    try:
        yield desk
    finally:
        # The page's last requests must be answered before the database is emptied.
        desk.page.goto("about:blank")
        desk.page.wait_for_timeout(LAST_WORDS)
        context.close()
