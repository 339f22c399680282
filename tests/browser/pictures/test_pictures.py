"""The pictures of docs/screens can be drawn from the demo by one command."""

import base64
import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.urls import reverse
from playwright.sync_api import Browser, Page, ViewportSize
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from evaluation.models import Study, Task
from evaluation.stages import ASSIGN, MANUAL, POST_EDIT, SUPPORT_POST_EDIT, Stage
from evaluation.terms import DrawKind, TaskState
from exchange.demo_campaign import PASSWORD, SLUG
from organizer.management.commands.load_demo import visit_before
from tests.browser.accessibility import drawn
from tests.browser.nugget_desk import LAST_WORDS
from tests.browser.pictures import FOLDER
from tests.llmjobs.conftest import point_at, simulator
from tests.llmjobs.pages import DOCS, commands
from tests.worlds.demo import make_demo

__all__ = ["point_at", "simulator"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).resolve().parents[3]
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
IN_README = re.compile(r"docs/screens/([\w-]+\.png)")
STEPS = ("desk-post-edit", "desk-assign", "desk-support-shown")
"""Pictures of which `judgment.png` is made, one below the other."""


Act = Callable[[Page], Page]
"""What somebody does on a page before it is drawn. Returns the page to draw."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as somebody sees it, as it opens or after an act."""

    name: str
    who: str
    address: Callable[[], str]
    phone: bool = False
    dark: bool = False
    act: Act | None = None


def _page(view: str, query: str = "") -> Callable[[], str]:
    return lambda: reverse(view, args=[SLUG]) + query


def _desk(stage: Stage, who: str, state: TaskState) -> Callable[[], str]:
    def address() -> str:
        task = Task.objects.filter(stage=stage, assessor__username=who, state=state).order_by("pk")[0]
        return reverse("assessor:task", args=[task.public_id])

    return address


def _lineage() -> str:
    task = Task.objects.filter(stage=POST_EDIT, assessor__username="ben", state=TaskState.SUBMITTED)
    return reverse("organizer:task", args=[SLUG, task.order_by("pk")[0].public_id])


def _check() -> str:
    return reverse(
        "organizer:random_check", args=[SLUG, Study.objects.filter(draw=DrawKind.RANDOM).earliest("pk").pk]
    )


def _home() -> str:
    return reverse("assessor:home")


def _history() -> str:
    task = Task.objects.filter(stage=POST_EDIT, assessor__username="cleo", state=TaskState.REOPENED)
    return reverse("assessor:history", args=[task.order_by("pk")[0].public_id])


def _pressed(*keys: str) -> Act:
    def act(page: Page) -> Page:
        for key in keys:
            page.keyboard.press(key)
        return page

    return act


def _clicked(name: str) -> Act:
    def act(page: Page) -> Page:
        page.get_by_role("button", name=name).click()
        return page

    return act


def _searched(page: Page) -> Page:
    page.keyboard.press("/")
    page.keyboard.type("river")
    page.keyboard.press("Enter")
    return page


def _merged(page: Page) -> Page:
    """Two drafts ticked, and the question how they become one."""
    page.keyboard.press("m")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("m")
    page.keyboard.press("Shift+M")
    page.locator("[data-slot=merge] [data-do=close]").wait_for()
    return page


def _reviewed(page: Page) -> Page:
    """Every draft decided, and the question before the list is submitted."""
    close = page.locator("[data-slot=merge] [data-do=close]")
    if close.count():  # open since the picture of a merge
        close.click()
    while page.locator("[data-keys~=row][data-decision=undecided]").count():
        page.keyboard.press("1")
        page.wait_for_timeout(LAST_WORDS)
    page.keyboard.press("Control+Enter")
    page.get_by_role("heading", name="Have you completed this topic?").wait_for()
    return page


def _offline(page: Page) -> Page:
    page.context.set_offline(True)
    page.keyboard.press("1")
    page.get_by_text("1 change waits").first.wait_for()
    return page


def _session_ended(page: Page) -> Page:
    Session.objects.all().delete()
    page.keyboard.press("1")
    page.locator("#sign-in").wait_for()
    return page


def _conflict(page: Page) -> Page:
    """One device changed a draft without network, another one took the task over and changed it too."""
    browser = page.context.browser
    assert browser
    page.context.set_offline(True)
    _retype(page, "Roots hold the bare mud within one summer")
    other = browser.new_context(storage_state=page.context.storage_state(), viewport=DESK).new_page()
    other.goto(page.url)
    other.get_by_role("button", name="Use it here").click()
    other.locator("body:not([data-readonly])").wait_for()
    _retype(other, "Plants cover the former lake bed in one summer")
    other.wait_for_timeout(LAST_WORDS)
    other.goto("about:blank")
    page.context.set_offline(False)
    other.context.close()
    page.get_by_role("button", name="Use it here").click()
    page.locator("#conflict").wait_for()
    return page


def _retype(page: Page, text: str) -> None:
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def _second_window(page: Page) -> Page:
    second = page.context.new_page()
    second.goto(page.url)
    second.get_by_role("button", name="Use it here").wait_for()
    return second


MAIN_PAGES = {
    "today": _page("organizer:today"),
    "data": _page("organizer:data"),
    "people": _page("organizer:people"),
    "work": _page("organizer:work"),
    "jobs": _page("organizer:jobs"),
    "start-a-job": _page("organizer:new_job"),
    "judges": _page("organizer:judges"),
    "leaderboard": _page("reports:scores"),
    "rank-agreement": _page("reports:correlation"),
    "confusion": _page("reports:confusion"),
    "quality": _page("organizer:quality"),
    "snapshots": _page("organizer:snapshots"),
}
"""Pages of which `pages/` has a picture for each size and theme."""

FORMS = {"1440": (False, False), "1440-dark": (False, True), "390": (True, False), "390-dark": (True, True)}
"""Whether a form is a phone's, and whether it is dark."""
SHOWN = _desk(SUPPORT_POST_EDIT, "ewan", TaskState.IN_PROGRESS)
EDITED = _desk(POST_EDIT, "ann", TaskState.IN_PROGRESS)
PICTURES = (
    *(
        Picture(f"pages/{name}-{form}", "olga", address, phone, dark)
        for name, address in MAIN_PAGES.items()
        for form, (phone, dark) in FORMS.items()
    ),
    Picture("agreement", "olga", _page("reports:correlation", "?x=E/A&y=E/M")),
    Picture("confusion", "olga", _page("reports:confusion")),
    Picture("leaderboard", "olga", _page("reports:scores")),
    Picture("corrected", "olga", _page("reports:scores", "?condition=E/A&view=corrected")),
    Picture("random-checks", "olga", _check),
    Picture("today", "olga", _page("organizer:today")),
    Picture("today-phone-dark", "olga", _page("organizer:today"), phone=True, dark=True),
    Picture("judges", "olga", _page("organizer:judges")),
    Picture("start-a-job", "olga", _page("organizer:new_job")),
    Picture("hand-out", "olga", _page("organizer:hand_out")),
    Picture("work", "olga", _page("organizer:work")),
    Picture("work-dark", "olga", _page("organizer:work"), dark=True),
    Picture("inbox", "olga", _page("organizer:inbox")),
    Picture("practice", "olga", _page("organizer:practice")),
    Picture("task-lineage", "olga", _lineage),
    Picture("home", "ann", _home),
    Picture("home-phone-dark", "ann", _home, phone=True, dark=True),
    Picture("desk-post-edit", "ann", EDITED),
    Picture("desk-post-edit-dark", "ann", EDITED, dark=True),
    Picture("desk-post-edit-phone", "ann", EDITED, phone=True),
    Picture("desk-submitted", "ann", _desk(POST_EDIT, "ann", TaskState.SUBMITTED)),
    Picture("desk-reopened", "cleo", _desk(POST_EDIT, "cleo", TaskState.REOPENED)),
    Picture("desk-by-hand", "ben", _desk(MANUAL, "ben", TaskState.IN_PROGRESS)),
    Picture("desk-assign", "cleo", _desk(ASSIGN, "cleo", TaskState.IN_PROGRESS)),
    Picture("desk-support-shown", "ewan", SHOWN),
    Picture("desk-support-phone-dark", "ewan", SHOWN, phone=True, dark=True),
    Picture("desk-history", "cleo", _history),
    Picture("desk-reading-phone-dark", "ann", EDITED, phone=True, dark=True, act=_clicked("Read")),
    Picture("desk-search", "ann", EDITED, act=_searched),
    Picture("desk-guidelines", "ann", EDITED, act=_clicked("Guidelines")),
    Picture("desk-keys", "ann", EDITED, act=_pressed("?")),
    Picture("desk-merge", "ann", EDITED, act=_merged),
    Picture("desk-not-submitted", "ann", EDITED, act=_pressed("Control+Enter")),
    Picture("desk-second-window", "ann", EDITED, act=_second_window),
    Picture("desk-offline", "ann", EDITED, act=_offline),
    Picture("desk-sign-in", "ann", EDITED, act=_session_ended),
    Picture("desk-conflict", "ann", EDITED, act=_conflict),
    Picture("desk-review", "ann", EDITED, act=_reviewed),
)


def test_the_pictures_are_drawn_from_the_demo(chromium: Browser, live_server: LiveServer, tmp_path: Path) -> None:
    make_demo()
    visit_before()
    folder = Path(os.environ.get(FOLDER, tmp_path))
    (folder / "pages").mkdir(exist_ok=True)
    for who in dict.fromkeys(picture.who for picture in PICTURES):
        with _signed_in(chromium, live_server, who) as page:
            for picture in PICTURES:
                if picture.who == who and not picture.act:
                    _draw(page, picture, folder)
    # What somebody does changes the page, so each such picture has a window of its own.
    for picture in PICTURES:
        if picture.act:
            with _signed_in(chromium, live_server, picture.who) as page:
                _draw(page, picture, folder)
    _draw_steps(chromium, folder)
    wanted = {*IN_README.findall((ROOT / "README.md").read_text(encoding="utf-8"))}
    assert wanted
    assert wanted <= {path.name for path in folder.iterdir()}


@pytest.mark.usefixtures("simulator")
def test_the_quickstart_s_leaderboard_is_drawn(chromium: Browser, live_server: LiveServer, tmp_path: Path) -> None:
    for words in map(shlex.split, commands(DOCS / "quickstart.md")):
        call_command(*words[2:])
        if "judge_support" in words:
            break
    folder = Path(os.environ.get(FOLDER, tmp_path))
    User.objects.create_superuser("admin", password=PASSWORD)
    board = Picture("quickstart-leaderboard", "admin", lambda: reverse("reports:scores", args=["library"]))
    with _signed_in(chromium, live_server, board.who) as page:
        _draw(page, board, folder)
        assert page.get_by_role("link", name="reranked").count()


@contextmanager
def _signed_in(chromium: Browser, live_server: LiveServer, who: str) -> Iterator[Page]:
    context = chromium.new_context(base_url=live_server.url, viewport=DESK)
    page = context.new_page()
    page.goto(reverse("account_login"))
    page.get_by_label("Username or email").fill(who)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Password").press("Enter")
    page.get_by_text("Your account").wait_for(state="attached")
    yield page
    # The page's last requests must be answered before the next one writes.
    page.goto("about:blank")
    page.wait_for_timeout(LAST_WORDS)
    context.close()


def _draw(page: Page, picture: Picture, folder: Path) -> None:
    page.set_viewport_size(PHONE if picture.phone else DESK)
    page.emulate_media(color_scheme="dark" if picture.dark else "light", reduced_motion="reduce")
    response = page.goto(picture.address())
    assert response
    assert response.ok, picture.name
    if page.locator("[data-loading]").count():
        page.locator("body[data-ready]").wait_for(state="attached")
        page.get_by_text("Loading the answer").wait_for(state="hidden")
    if picture.act:
        if page.locator("body[data-readonly]").count():
            page.keyboard.press("u")
            page.locator("body:not([data-readonly])").wait_for()
        page = picture.act(page)
    drawn(page)
    page.screenshot(path=folder / f"{picture.name}.png")


STYLE = """
body { margin: 0; background: #fff }
p { margin: 12px 24px; font: 600 20px sans-serif }
img { display: block; width: 1200px; height: 520px; object-fit: cover; object-position: top }
"""


def _draw_steps(chromium: Browser, folder: Path) -> None:
    """Draw the three steps of a judgment, one below the other, numbered."""
    images = [base64.b64encode((folder / f"{step}.png").read_bytes()).decode() for step in STEPS]
    rows = "".join(
        f'<p>{number}</p><img alt="" src="data:image/png;base64,{image}">'
        for number, image in enumerate(images, start=1)
    )
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    page.set_content(f"<style>{STYLE}</style>{rows}")
    page.screenshot(path=folder / "judgment.png", full_page=True)
    page.close()
