"""How long an assessor waits from opening the desk in Chromium to the first label that is saved."""

import os
import shutil
import time

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from benchmarks.desk import PASSAGES, SLUG
from benchmarks.measuring import Measured
from benchmarks.sizes import SMALL, Size
from evaluation.models import Campaign, Task
from rig.sessions import session_cookie
from rig.web import served

CANDIDATES = ("chromium-headless-shell", "chromium", "google-chrome")
SAVED = "() => { const e = document.getElementById('saved'); return e && !e.hidden && e.textContent; }"


def first_labels(size: Size, _turn: int) -> Measured:
    """Open each desk in a new window, press `1` on the row that has the focus, and wait until it is saved."""
    each = 2 if size is SMALL else 10
    measured = Measured(rows=each)
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CANDIDATES)), None)
    if path is None:
        measured.skipped = "no Chromium was found"
        return measured
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, topic in zip(PASSAGES, Campaign.objects.get(slug=SLUG).topics.all(), strict=True):
            task = Task.objects.filter(topic=topic).select_related("assessor")[0]
            times = [_one(browser, address, task, number) for number in range(each + 1)][1:]
            ready, labelled = np.median(np.array(times), axis=0)
            measured.seconds[f"ready {name}"] = float(ready)
            measured.seconds[f"label {name}"] = float(labelled)
        browser.close()
    return measured


def _one(browser: Browser, address: str, task: Task, number: int) -> tuple[float, float]:
    """Return the seconds until the desk takes keys, and until the first label is saved."""
    name, _, value = session_cookie(task.assessor).partition("=")
    context = browser.new_context()
    context.add_cookies([{"name": name, "value": value, "url": address}])
    page = context.new_page()
    started = time.perf_counter()
    page.goto(f"{address}/desk/{task.public_id}/")
    page.wait_for_selector("body[data-ready]")
    ready = time.perf_counter() - started
    page.keyboard.press("12"[number % 2])
    page.wait_for_function(SAVED)
    saved = time.perf_counter() - started
    context.close()
    return ready, saved
