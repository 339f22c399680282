"""A desk in a real browser: opened as Ann would, with what its console says."""

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from tests.worlds.desk import DeskWorld

READY = "body[data-ready]"


@dataclass(slots=True)
class Opened:
    """An open desk: the page, and its complaints so far."""

    page: Page
    address: str
    said: list[str] = field(default_factory=list)

    @property
    def first_row(self) -> Any:
        """The first nugget of the list."""
        return self.page.locator("#nugget-rows > [data-keys~=row]").first

    def decisions(self) -> list[str | None]:
        """What was decided about each nugget, as the screen shows it."""
        rows = self.page.locator("#rows [data-keys~=row]").all()
        return [row.get_attribute("data-decision") for row in rows]

    def reload(self) -> None:
        """Reload and wait until the desk works again."""
        self.page.reload()
        self.page.wait_for_selector(READY)

    def focused(self, expression: str) -> Any:
        """Evaluate an expression of the element in focus, `e`."""
        return self.page.evaluate(f"(() => {{ const e = document.activeElement; return {expression}; }})()")


def signed_in(browser: Browser, server: LiveServer, world: DeskWorld, **options: Any) -> BrowserContext:
    """A browser in which Ann is signed in."""
    options.setdefault("viewport", {"width": 1440, "height": 900})
    context = browser.new_context(base_url=server.url, **options)
    session = world.client().cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": server.url}])
    return context


def open_desk(context: BrowserContext, world: DeskWorld, *, by_hand: bool = False) -> Opened:
    """Open one of Ann's tasks and wait until its scripts are ready."""
    task = world.manual if by_hand else world.post_edit
    address = f"/desk/{task.public_id}/"
    world.client().post(f"{address}start/")
    opened = Opened(context.new_page(), address)
    opened.page.on("console", lambda one: opened.said.append(one.text) if one.type == "error" else None)
    opened.page.on("pageerror", lambda error: opened.said.append(str(error)))
    opened.page.goto(address)
    opened.page.wait_for_selector(READY)
    return opened
