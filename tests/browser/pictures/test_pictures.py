"""The pictures of docs/screens that show a page as it opens can be drawn from the demo by one command."""

import base64
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, ViewportSize
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Task
from evaluation.terms import Stage, TaskState
from exchange.demo_campaign import PASSWORD, SLUG
from tests.browser.accessibility import drawn
from tests.browser.pictures import FOLDER
from tests.worlds.demo import make_demo

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).resolve().parents[3]
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
IN_README = re.compile(r"docs/screens/([\w-]+\.png)")
STEPS = ("desk-post-edit", "desk-assign", "desk-support-shown")
"""Pictures of which `judgment.png` is made, one below the other."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as somebody sees it."""

    name: str
    who: str
    address: Callable[[], str]
    phone: bool = False
    dark: bool = False


def _page(view: str, query: str = "") -> Callable[[], str]:
    return lambda: reverse(view, args=[SLUG]) + query


def _desk(stage: Stage, who: str, state: TaskState) -> Callable[[], str]:
    def address() -> str:
        task = Task.objects.filter(stage=stage, assessor__username=who, state=state).order_by("pk")[0]
        return reverse("assessor:task", args=[task.public_id])

    return address


def _lineage() -> str:
    task = Task.objects.filter(stage=Stage.POST_EDIT, assessor__username="ben", state=TaskState.SUBMITTED)
    return reverse("organizer:task", args=[SLUG, task.order_by("pk")[0].public_id])


def _home() -> str:
    return reverse("assessor:home")


EDITED = _desk(Stage.POST_EDIT, "ann", TaskState.IN_PROGRESS)
PICTURES = (
    Picture("agreement", "olga", _page("reports:agreement", "?x=E/A&y=E/M")),
    Picture("confusion", "olga", _page("reports:confusion")),
    Picture("leaderboard", "olga", _page("reports:leaderboard")),
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
    Picture("desk-submitted", "ann", _desk(Stage.POST_EDIT, "ann", TaskState.SUBMITTED)),
    Picture("desk-reopened", "cleo", _desk(Stage.POST_EDIT, "cleo", TaskState.REOPENED)),
    Picture("desk-by-hand", "ben", _desk(Stage.MANUAL, "ben", TaskState.IN_PROGRESS)),
    Picture("desk-assign", "cleo", _desk(Stage.ASSIGN, "cleo", TaskState.IN_PROGRESS)),
    Picture("desk-support-shown", "ewan", _desk(Stage.SUPPORT_POST_EDIT, "ewan", TaskState.IN_PROGRESS)),
)


def test_the_pictures_are_drawn_from_the_demo(chromium: Browser, live_server: LiveServer, tmp_path: Path) -> None:
    make_demo()
    folder = Path(os.environ.get(FOLDER, tmp_path))
    for who in dict.fromkeys(picture.who for picture in PICTURES):
        context = chromium.new_context(base_url=live_server.url, viewport=DESK)
        page = context.new_page()
        _sign_in(page, who)
        for picture in PICTURES:
            if picture.who == who:
                _draw(page, picture, folder)
        context.close()
    _draw_steps(chromium, folder)
    wanted = {*IN_README.findall((ROOT / "README.md").read_text(encoding="utf-8"))}
    assert wanted
    assert wanted <= {path.name for path in folder.iterdir()}


def _sign_in(page: Page, who: str) -> None:
    page.goto(reverse("account_login"))
    page.get_by_label("Username or email").fill(who)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Password").press("Enter")
    page.get_by_text("Your account").wait_for(state="attached")


def _draw(page: Page, picture: Picture, folder: Path) -> None:
    page.set_viewport_size(PHONE if picture.phone else DESK)
    page.emulate_media(color_scheme="dark" if picture.dark else "light", reduced_motion="reduce")
    response = page.goto(picture.address())
    assert response
    assert response.ok, picture.name
    if page.locator("[data-loading]").count():
        page.locator("body[data-ready]").wait_for(state="attached")
        page.get_by_text("Loading the answer").wait_for(state="hidden")
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
