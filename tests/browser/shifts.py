"""How far what is read shifts while a desk starts, at its slowest: first without scripts, then without the fonts."""

from typing import Any

from django.utils import timezone
from playwright.sync_api import Page, Route

from assessor.models import Desk
from evaluation.models import Task
from evaluation.terms import PageState
from tests.browser.nugget_desk import CALM

SIZES = {"390": (390, 844), "1280x720": (1280, 720), "1440x900": (1440, 900)}
MOST = 0.02
A_PAINT = 200
SCRIPT, FONTS = "**/js/*/main*.js", "**/*.woff2"
SHIFTS = """() => new Promise((told) => {
  const shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      const moved = sources.map(({ node, previousRect: from, currentRect: to }) => {
        const place = (node?.nodeType === 1 ? node : node?.parentElement)?.outerHTML.slice(0, 90);
        return `${place} ${from.x},${from.y} ${from.width}x${from.height} -> ${to.x},${to.y} ${to.width}x${to.height}`;
      });
      if (!hadRecentInput) shifts.push([value, moved]);
    }
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => told(shifts), 500);
})"""


IN_THE_ROWS = {"shell": {"shown": "rows", "scrolled": {"passages": 0, "rows": 0}}}


def leave_open_elsewhere(task: Task) -> None:
    held = {"holder": "another window", "held_at": timezone.now(), "holder_page": PageState.VISIBLE}
    assert Desk.objects.filter(task=task).update(place=IN_THE_ROWS, **held)


def held_back(page: Page, address: str) -> list[Route]:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(address, hold)
    return held


def let_go(page: Page, address: str, held: list[Route]) -> None:
    page.wait_for_timeout(A_PAINT)
    for route in held:
        route.continue_()
    page.unroute(address)


def shifts_while_starting(page: Page, address: str) -> list[Any]:
    """Open a desk with its scripts and fonts late; return what shifted, by how much and where."""
    scripts, fonts = held_back(page, SCRIPT), held_back(page, FONTS)
    page.goto(address, wait_until="commit")
    page.locator("#actions").wait_for(state="attached")
    let_go(page, SCRIPT, scripts)
    page.locator("body[data-ready]").wait_for(state="attached", timeout=CALM)
    let_go(page, FONTS, fonts)
    page.wait_for_timeout(A_PAINT)
    shifts: list[Any] = page.evaluate(SHIFTS)
    return shifts


def is_still(shifts: list[Any]) -> None:
    assert sum(value for value, _ in shifts) <= MOST, shifts
