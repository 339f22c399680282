"""A desk in a browser, as tests open and drive it."""

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, Page

from assessor.models import Operation
from tests.assessor.desk_client import Window

NewDevice = Callable[[], BrowserContext]
SAVED = "#saved"
BAR = "[data-notice=save]"
LEASE = "[data-notice=lease]"

DESK = "(await (await import('/static/js/nuggets/main.js')).desk)"


def open_desk(context: BrowserContext, window: Window, page: Page | None = None) -> Page:
    """Open a window's task in a new page, or in `page`, and wait until it is ready."""
    page = page or context.new_page()
    page.goto(window.url())
    page.locator("body[data-ready]").wait_for(state="attached")
    desk(page, "desk.lease?.started")
    return page


def desk(page: Page, expression: str) -> Any:
    """Evaluate JavaScript about the page's `desk`, which is a module's and no global."""
    return page.evaluate(
        f"async () => {{ const desk = {DESK}; const said = await ({expression}); return said ?? null; }}"
    )


def reword(page: Page, key: str, text: str) -> None:
    page.evaluate(
        f"async ([key, text]) => {{ {DESK}.store.do('edit', {{key, text}}, {{source: 'text'}}); }}", [key, text]
    )


def until(page: Page, condition: str, seconds: float = 30) -> None:
    """Wait for a condition over `desk`. Playwright's own way needs eval, which our policy forbids."""
    deadline = time.monotonic() + seconds
    while not desk(page, condition):
        assert time.monotonic() < deadline, f"never: {condition}"
        time.sleep(0.05)


def drained(page: Page) -> None:
    until(page, "desk.save.state().unsent === 0")


def wordings() -> list[str]:
    """The texts of all rewordings in the log, in the order in which they arrived."""
    ops = Operation.objects.filter(kind="edit").order_by("seq")
    return [payload["text"] for payload in ops.values_list("payload", flat=True)]
