"""Practice in a real browser: by keyboard, without a script, in both themes and on a phone."""

import re
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from assessor.models import PracticeAnswer
from tests.browser.pages.test_axe import SIZES, problems_on, sign_in
from tests.worlds.judging_desk import JudgeWorld, make_judge_world
from tests.worlds.practice import ASSIGN, SHOWN, item, load_practice

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LONG = item("assign", "a3", "partial_support", text="a" * 200, statement="نعم " * 60)


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    """Ann has answers to assign and, with the machine's label shown, citations to judge."""
    world = make_judge_world(tmp_path)
    load_practice(world.campaign, tmp_path, [*ASSIGN, LONG, *SHOWN])
    return world


def test_practice_is_done_by_keyboard_and_accessible(
    world: JudgeWorld, chromium: Browser, live_server: LiveServer
) -> None:
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES["desk"])
    page = context.new_page()
    sign_in(page, "ann")
    url = f"/desk/{world.assign.public_id}/"
    found = problems_on(page, "/desk/")
    page.goto(url)
    page.get_by_role("link", name="Practise").press("Enter")
    for number, key in enumerate(("Space", "ArrowDown", "ArrowUp"), start=1):
        page.get_by_role("heading", name=f"item {number} of 3").wait_for()
        found += problems_on(page, f"{url}practice/") if number == 3 else []
        page.get_by_role("radio", name="Support").press(key)
        page.get_by_role("radio", checked=True).press("Enter")
        page.get_by_text("Known label").wait_for()
        found += problems_on(page, page.url) if number == 3 else []
        page.get_by_role("link", name="Next" if number < 3 else "Your result").press("Enter")
    page.get_by_role("heading", name="Practice done: 1 of 3 as known").wait_for()
    found += problems_on(page, f"{url}practice/")
    found += problems_on(page, f"/desk/{world.shown.public_id}/practice/")
    page.goto(f"{url}practice/")
    page.get_by_role("link", name="On to the task").press("Enter")
    page.get_by_role("button", name="Start").wait_for()
    page.context.clear_cookies()
    sign_in(page, "olga")
    found += problems_on(page, reverse("organizer:practice", args=["river"]))
    context.close()
    assert found == []


def test_practice_is_done_with_the_desk_s_keys_and_again(
    world: JudgeWorld, chromium: Browser, live_server: LiveServer
) -> None:
    """Own keys count as at the desk; what is practised again changes no first answer."""
    ann = User.objects.get(username="ann")
    ann.desk_settings = {**ann.desk_settings, "keys": {"label-3": ["n"]}}
    ann.save()
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES["desk"])
    page = context.new_page()
    sign_in(page, "ann")
    page.goto(f"/desk/{world.assign.public_id}/practice/")
    for number, key in enumerate("12n", start=1):
        page.get_by_role("heading", name=f"Practice, item {number} of 3").wait_for()
        page.keyboard.press(key)
        page.get_by_text("Known label").wait_for()
        page.keyboard.press("Enter")
    done = page.get_by_role("heading", name=re.compile("^Practice done: . of 3 as known"))
    done.wait_for()
    first = done.inner_text()
    given = list(PracticeAnswer.objects.order_by("pk").values_list("label", flat=True))
    assert given == [2, 1, 0]
    page.get_by_role("link", name="Practise again").press("Enter")
    for number in range(1, 4):
        page.get_by_role("heading", name=f"Practice, item {number} of 3").wait_for()
        page.keyboard.press("2")
        page.get_by_text("Known label").wait_for()
        page.keyboard.press("Enter")
    done.wait_for()
    assert done.inner_text() == first
    assert list(PracticeAnswer.objects.order_by("pk").values_list("label", flat=True)) == given
    page.goto(f"/desk/{world.shown.public_id}/practice/")
    page.get_by_text("Machine label").wait_for()
    page.keyboard.press("a")
    page.get_by_text("Known label").wait_for()
    context.close()


def test_practice_needs_no_script(world: JudgeWorld, chromium: Browser, live_server: LiveServer) -> None:
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES["phone"], java_script_enabled=False)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.get_by_label("Username or email").fill("ann")
    page.get_by_label("Password").fill("ann")
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"/desk/{world.shown.public_id}/practice/")
    page.get_by_role("radio", name="Partial").check()
    page.get_by_role("button", name="Give this label").click()
    page.get_by_role("heading", name="Item 1 of 1: as known").wait_for()
    context.close()
