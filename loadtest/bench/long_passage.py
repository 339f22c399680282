"""From a key to the screen, in a real browser, at the desk Judge citations over passages of 200,000 characters."""

import numpy as np
from django.conf import settings
from playwright.sync_api import Page, sync_playwright

from accounts.models import NOTICE_VERSION, User
from assessor.desk.context import open_desk
from evaluation.models import Segment, Task
from evaluation.stages import SUPPORT_SCRATCH
from loadtest.bench.first_label import READY, browser_path
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import SMALL, Size
from loadtest.desk.judging_campaign import BRIEF, hand_all, make_judging_campaign
from loadtest.servers.sessions import new_session
from loadtest.servers.web import served

READER = "reader"
CHARACTERS = 200_000
KEYS = ("g", "g", "Shift+G", "m", "2")  # places, evidence, and a label that leads on to another passage
ROUNDS = 24  # of 30 pairs
# A task that is posted in a frame runs once the frame is painted.
LISTEN = """() => {
  window.painted = [];
  addEventListener("keydown", ({ timeStamp }) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.painted.push(performance.now() - timeStamp);
    port2.postMessage(null);
  }), { capture: true });
}"""


def prepare(_size: Size, _turn: int) -> Measured:
    campaign = make_judging_campaign("long", [BRIEF])
    sentences = (
        f"Note {number} tells what the river carries and where it goes in year {number % 90}."
        for number in range(9_999)
    )
    paragraphs, length = [""], 0
    for number, sentence in enumerate(sentences):
        paragraphs[-1] += f"{sentence} "
        length += len(sentence) + 1
        if length >= CHARACTERS:
            break
        if number % 6 == 5:
            paragraphs.append("")
    Segment.objects.filter(campaign=campaign).update(text="\n\n".join(paragraphs))
    user = User.objects.create(username=READER, notice_version=NOTICE_VERSION)
    for task in hand_all(campaign, user, SUPPORT_SCRATCH):
        open_desk(task=task, user=user)
    return Measured()


def in_chromium(size: Size, _turn: int) -> Measured:
    """Press the keys of one who judges, each once the one before is on the screen."""
    path = browser_path()
    if path is None:
        return Measured(skipped="no Chromium was found; set CHROMIUM to its path")
    rounds = 2 if size is SMALL else ROUNDS
    task = Task.objects.get(assessor__username=READER)
    session = new_session(task.assessor)
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 720})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": address}])
        page = context.new_page()
        page.goto(f"/desk/{task.public_id}/")
        page.wait_for_selector(READY)
        page.evaluate(LISTEN)
        times = [_to_screen(page, number, key) for number, key in enumerate(KEYS * rounds, start=1)]
        browser.close()
    measured = Measured(rows=len(times))
    measured.seconds["p50"], measured.seconds["p95"] = (float(np.percentile(times, at)) for at in (50, 95))
    return measured


def _to_screen(page: Page, number: int, key: str) -> float:
    page.keyboard.press(key)
    page.wait_for_function("number => window.painted.length >= number", arg=number)
    return float(page.evaluate("number => window.painted[number - 1]", number)) / 1000
