"""A whole campaign through the browser only: made, filled, judged by a person and an LLM, reported and taken out."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Any
from zipfile import ZipFile

import pytest
from django.db import connections
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Task
from evaluation.stages import ASSIGN, POST_EDIT, SUPPORT_POST_EDIT, Stage
from evaluation.terms import TaskState
from exchange.models import ImportAttempt
from jobs import lanes, queue
from tests.browser.judge.judging_desk import JudgingDesk
from tests.browser.nugget_desk import CALM, LAST_WORDS, NuggetDesk
from tests.browser.pages.test_axe import problems_on, sign_in
from tests.llmjobs.conftest import point_at, simulator
from tests.worlds.cast import make_user

__all__ = ["point_at", "simulator"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

WIDE = {"width": 1440, "height": 900}
SAID = ("Rivers bend because sand moves along the banks.", "Floods tear the outer bank away in a single night.")
TOPICS = "t1\twhy do rivers bend\n"
SEGMENTS = "".join(
    json.dumps({"docid": f"d{n}", "url": "", "title": f"Bends {n}", "headings": "", "segment": text}) + "\n"
    for n, text in enumerate(SAID, start=1)
)
QRELS = "t1 0 d1 3\nt1 0 d2 2\n"


def run(name: str, text: str, cited: str) -> str:
    answer = [{"text": text, "citations": [cited]}, {"text": "That is all.", "citations": []}]
    return json.dumps({"run_id": name, "topic_id": "t1", "references": ["d1", "d2"], "answer": answer}) + "\n"


def file(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


@pytest.fixture
def _worker(settings: Any, tmp_path: Path) -> Iterator[None]:
    """A worker process's two lanes, beside the server."""
    settings.FILES_DIR = tmp_path / "files"
    stopping = Signal()

    def work() -> None:
        try:
            while not stopping.wait(0.1):
                queue.renew("tester")
                for lane in lanes.lanes():
                    if queue.anything_due(lane.kind):
                        lane.runner("tester", stopping)
        finally:
            connections.close_all()

    thread = Thread(target=work)
    thread.start()
    yield
    stopping.set()
    thread.join()


@contextmanager
def window(chromium: Browser, server: LiveServer) -> Iterator[BrowserContext]:
    context = chromium.new_context(base_url=server.url, viewport=WIDE)  # type: ignore[arg-type]
    yield context
    for page in context.pages:
        page.goto("about:blank")
        page.wait_for_timeout(LAST_WORDS)
    context.close()


def go(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("button", name=name, exact=True).or_(
            page.get_by_role("link", name=name, exact=True)
        ).first.click()


GROUP_OF = {"Data": "Set up", "People": "Set up", "Jobs": "Judge", "Work": "Judge", "Leaderboard": "Results"}


def open_page(page: Page, name: str) -> None:
    menu = page.get_by_role("navigation", name="Campaign")
    menu.locator("summary", has_text=GROUP_OF[name]).click()
    menu.get_by_role("link", name=name, exact=True).click()


def load(page: Page, kind: str, files: Sequence[FilePayload], **fields: str) -> None:
    open_page(page, "Data")
    page.locator(".import-kinds").get_by_role("link", name=kind, exact=True).click()
    for label, value in fields.items():
        page.get_by_label(label.replace("_", " ")).fill(value)
    page.locator("input[type=file]").set_input_files(files)
    go(page, "Try out")
    expect(page.locator("#attempt")).to_contain_text("Tried out.", timeout=CALM)
    go(page, "Load")
    expect(page.locator("#attempt")).to_contain_text("Loaded.", timeout=CALM)


def run_job(page: Page, kind: str, nuggets: str = "") -> None:
    open_page(page, "Jobs")
    go(page, "Start a job")
    page.get_by_role("radio", name=re.compile(f"^{kind}")).check()
    if nuggets:
        page.get_by_label("Nuggets", exact=True).select_option(label=nuggets)
    page.get_by_role("button", name=re.compile("^Start: ")).click()
    expect(page.locator("#standing")).to_contain_text("Done.", timeout=2 * CALM)
    expect(page.locator("#standing")).to_contain_text("0 failed")


def hand_out(page: Page, stage: str) -> None:
    open_page(page, "Work")
    go(page, "Hand out…")
    page.get_by_role("radio", name=re.compile(f"^{re.escape(stage)}")).check()
    for box in page.locator("fieldset.ticks input").all():
        box.check()
    page.get_by_role("button", name="Hand out 1 task").click()
    expect(page.locator("main")).to_contain_text("Ann Rivers")


def invited(page: Page) -> str:
    open_page(page, "People")
    page.locator("#invite_role").select_option("assessor")
    page.locator("[aria-labelledby=h-invite]").get_by_role("button", name="Make a link").click()
    return page.locator("#link-1").input_value()


def join(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Name", exact=True).fill("Ann Rivers")
    page.get_by_label("Password").fill("where the river bends")
    go(page, "Make my account")
    if page.get_by_role("button", name="I have read this").count():
        go(page, "I have read this")
    page.wait_for_url("**/desk/**")


def at_desk(page: Page, kind: type[NuggetDesk], stage: Stage) -> Any:
    page.goto("/desk/")
    desk = kind(page, Task.objects.get(stage=stage))
    page.get_by_role("link", name=re.compile("why do rivers bend")).first.click()
    go(page, "Start")
    desk.ready()
    return desk


def post_edit(page: Page) -> None:
    """Keep every draft, the first as vital, and add one."""
    ann = at_desk(page, NuggetDesk, POST_EDIT)
    count = page.locator("#nugget-rows > .row").count()
    assert count > 0
    for _ in range(count):
        ann.press("1")
    ann.saved()
    ann.submit()
    assert ann.console_errors == []


def judge(page: Page, stage: Stage, label: str) -> None:
    ann = at_desk(page, JudgingDesk, stage)
    ann.desk("desk.lease?.started")
    ann.label_all(label)
    ann.submit()
    assert ann.console_errors == []


def make_and_fill(page: Page) -> None:
    sign_in(page, "root")
    go(page, "New campaign")
    page.get_by_label("Name", exact=True).fill("River study")
    page.get_by_label("Short name").fill("river")
    page.get_by_role("button", name="Make the campaign").click()
    load(page, "Topics", [file("topics.tsv", TOPICS)])
    load(page, "Passages", [file("segments.jsonl", SEGMENTS)])
    load(page, "Graded passages", [file("qrels.txt", QRELS)], Who_graded="NIST")
    load(page, "Runs", [file("a.jsonl", run("alpha", SAID[0], "d1")), file("b.jsonl", run("beta", SAID[1], "d1"))])


def judge_it(page: Page, desk: Page) -> None:
    run_job(page, "Make drafts")
    hand_out(page, "Edit drafts")
    post_edit(desk)
    hand_out(page, "Label answers")
    judge(desk, ASSIGN, "support")
    run_job(page, "Label answers", "Edited nuggets (E)")
    run_job(page, "Judge citations")
    hand_out(page, "Judge citations, machine label shown")
    judge(desk, SUPPORT_POST_EDIT, "full_support")
    assert set(Task.objects.values_list("state", flat=True)) == {TaskState.SUBMITTED}


def take_out(page: Page, path: Path) -> None:
    open_page(page, "Data")
    go(page, "New export…")
    page.get_by_role("radio", name=re.compile("^Everything")).check()
    page.get_by_role("button", name=re.compile("^Export: snapshot ")).click()
    with page.expect_download(timeout=2 * CALM) as download:
        page.get_by_role("link", name=re.compile("^Download river-")).click(timeout=2 * CALM)
    download.value.save_as(path)
    with ZipFile(path) as archive:
        assert json.loads(archive.read("manifest.json"))["slug"] == "river"


@pytest.mark.usefixtures("simulator", "_worker")
def test_a_whole_campaign_through_the_browser(chromium: Browser, live_server: LiveServer, tmp_path: Path) -> None:
    make_user("root", is_superuser=True, is_staff=True)
    with window(chromium, live_server) as office, window(chromium, live_server) as home:
        page, desk = office.new_page(), home.new_page()
        make_and_fill(page)
        join(desk, invited(page))
        judge_it(page, desk)
        open_page(page, "Leaderboard")
        expect(page.locator("main")).to_contain_text("alpha")
        page.goto("/campaigns/river/agreement/?x=E/A&y=E/M")
        expect(page.locator("main")).to_contain_text("Edited nuggets, manual labels")
        take_out(page, tmp_path / "river.zip")
        attempt = f"/campaigns/river/data/imports/{ImportAttempt.objects.latest('pk').pk}/"
        pages = ("/campaigns/new/", "/campaigns/river/data/", "/campaigns/river/data/load/runs/", attempt)
        assert not [problem for address in pages for problem in problems_on(page, address)]
