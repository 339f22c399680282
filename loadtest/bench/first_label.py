"""The time to the first label in a real browser: from asking for the desk to the server's receipt.

Each opening is another assessor's, in a browser context of its own: nothing is cached, and nobody else holds the desk.
"""

import os
import shutil
import time
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from playwright.sync_api import Browser, sync_playwright

from evaluation.models import Campaign, Task
from loadtest.bench.desk import PASSAGES, SLUG
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import SMALL, Size
from loadtest.servers.sessions import new_session
from loadtest.servers.web import served

CANDIDATES = ("chromium-headless-shell", "chromium", "google-chrome")
READY = "body[data-ready]"
FIRST_ROW = "#nugget-rows > [data-keys~=row]"
OPENINGS = 8  # of each size; the first warms browser and server up


@dataclass(frozen=True, slots=True)
class Visit:
    path: str
    session: str


def browser_path() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CANDIDATES)), None)


def in_chromium(size: Size, _turn: int) -> Measured:
    path = browser_path()
    if path is None:
        return Measured(skipped="no Chromium was found; set CHROMIUM to its path")
    openings = 3 if size is SMALL else OPENINGS
    topics = list(Campaign.objects.get(slug=SLUG).topics.all())
    visits = {name: _visits(topic.pk, openings) for name, topic in zip(PASSAGES, topics, strict=True)}
    measured = Measured(rows=openings - 1)
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name, topic_visits in visits.items():
            times = [_first_label(browser, address, visit) for visit in topic_visits][1:]
            for what, seconds in zip(("ready", "label"), zip(*times, strict=True), strict=True):
                measured.seconds[f"{what} p50 {name}"] = float(np.percentile(seconds, 50))
                measured.seconds[f"{what} p95 {name}"] = float(np.percentile(seconds, 95))
        browser.close()
    return measured


def _visits(topic: int, count: int) -> list[Visit]:
    """Return desks of a topic. Read before the browser starts, which leaves no room for the database beside it."""
    tasks = Task.objects.filter(topic=topic).select_related("assessor").order_by("-pk")[:count]
    return [Visit(f"/desk/{task.public_id}/", new_session(task.assessor)) for task in tasks]


def _first_label(browser: Browser, address: str, visit: Visit) -> tuple[float, float]:
    """Return the seconds until the desk takes keys, and until the first decision is acknowledged."""
    context = browser.new_context(base_url=address, viewport={"width": 1440, "height": 900})
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": visit.session, "url": address}])
    page = context.new_page()
    started = time.perf_counter()
    page.goto(visit.path, wait_until="commit")
    page.wait_for_selector(READY)
    ready = time.perf_counter() - started
    page.locator(FIRST_ROW).first.focus()
    with page.expect_response(lambda reply: reply.url.endswith("/ops/")) as acknowledged:
        page.keyboard.press("a")
    if acknowledged.value.status != 200:
        raise SystemExit(f"{visit.path}: {acknowledged.value.status}")
    label = time.perf_counter() - started
    context.close()
    return ready, label
