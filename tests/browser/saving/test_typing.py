"""Half-typed words outlive everything: a killed browser, an ended session, another window. Typed with real keys."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.assessor.desk_client import Window
from tests.browser.accessibility import NO_STYLES
from tests.browser.conftest import QUIET, chromium_path
from tests.browser.saving.desk_script import desk, drained, open_desk, reword, until, wordings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
WATCH_STATUS = """() => {
    const said = window.said = [];
    new MutationObserver(() => said.push(document.getElementById("status").textContent))
        .observe(document.getElementById("status"), {childList: true, characterData: true, subtree: true});
}"""


def start_typing(page: Page, text: str, key: str = "d1") -> Locator:
    """Open a row's field and type behind what is there."""
    row = page.locator(f"#n-{key}")
    row.get_by_role("button", name="Edit").click()
    field = row.get_by_role("textbox")
    field.press_sequentially(text, delay=5)
    return field


def processes_of(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if f"--user-data-dir={folder}" in command:
                found.append(int(entry.name))
    return found


@pytest.fixture
def profile(chromium: Browser, live_server: LiveServer, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "profile"
    yield folder
    for process in processes_of(folder):
        os.kill(process, signal.SIGKILL)


def start_browser(chromium: Browser, profile: Path, url: str, window: Window) -> BrowserContext:
    context = chromium.browser_type.launch_persistent_context(
        profile, executable_path=chromium_path(), args=QUIET, base_url=url
    )
    cookie = window.client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": url}])
    return context


def test_a_browser_killed_mid_word_loses_at_most_a_second(
    chromium: Browser, live_server: LiveServer, profile: Path, window: Window
) -> None:
    context = start_browser(chromium, profile, live_server.url, window)
    page = open_desk(context, window)
    context.set_offline(True)
    field = start_typing(page, " and then some mo")
    typed = field.input_value()
    time.sleep(1)
    for process in processes_of(profile):
        os.kill(process, signal.SIGKILL)
    time.sleep(0.5)
    (profile / "SingletonLock").unlink(missing_ok=True)

    context = start_browser(chromium, profile, live_server.url, window)
    page = open_desk(context, window)
    until(page, f"desk.store.row('d1').text === {json.dumps(typed)} || document.querySelector('#n-d1 textarea')")
    assert not desk(page, "desk.lease.readonly")
    reword(page, "d2", "goes on at once")
    drained(page)
    until(page, "desk.store.row('d1').decision === 'kept'")
    drained(page)
    assert typed in wordings()
    context.close()


def test_an_ended_session_leaves_the_field_and_its_cursor(page: Page) -> None:
    field = start_typing(page, " with more")
    drained(page)
    until(page, "desk.store.row('d1').decision === 'kept'")
    drained(page)
    Session.objects.all().delete()
    field.press_sequentially(" words")
    field.press("ArrowLeft")
    place = field.evaluate("(one) => [one.value, one.selectionStart]")
    dialog = page.locator("#sign-in")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Username or email").fill("ann")
    dialog.get_by_label("Password").fill("ann")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    assert field.evaluate("(one) => [one.value, one.selectionStart]") == place
    page.keyboard.type("!")
    field.press("Enter")
    drained(page)
    assert wordings()[-1] == "draft fact number 1 with more word!s"


def test_a_tab_that_is_left_mid_word_loses_no_character(page: Page, window: Window) -> None:
    second = open_desk(page.context, window)
    until(second, "desk.lease.readonly")
    start_typing(page, " up to the last lett")
    second.get_by_role("button", name="Use it here").click()
    until(second, "!desk.lease.readonly")
    until(page, "desk.lease.readonly")
    drained(page)
    assert wordings() == ["draft fact number 1 up to the last lett"]
    expect(second.locator("#n-d1")).to_contain_text("up to the last lett")
    field = start_typing(second, "er")
    field.press("Enter")
    drained(second)
    assert wordings()[-1] == "draft fact number 1 up to the last letter"


def test_an_outage_is_said_once_and_so_is_its_end(page: Page) -> None:
    page.evaluate(WATCH_STATUS)
    page.context.set_offline(True)
    for text in ("one", "two", "three"):
        reword(page, "d1", text)
    expect(page.locator("[data-notice=save]")).to_contain_text("Not connected")
    time.sleep(4)
    page.context.set_offline(False)
    expect(page.locator("[data-notice=save]")).to_contain_text("All 3 changes saved")
    time.sleep(3.2)
    messages = [text for text in page.evaluate("window.said") if "saved" in text or "connected" in text]
    assert len(messages) == 2
    assert messages[0].startswith("Not connected.")
    assert messages[1].startswith("All 3 changes saved")
    assert wordings() == ["one", "two", "three"]


SCHEMES: list[Literal["light", "dark"]] = ["light", "dark"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_bars_and_dialogs_are_accessible(page: Page, window: Window, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 320, "height": 600})
    page.context.set_offline(True)
    reword(page, "d1", "unsent")
    expect(page.locator("[data-notice=save]")).to_contain_text("Not connected")
    found = problems(page)
    page.locator("[data-notice=save]").get_by_role("button", name="Show them").click()
    found += problems(page)
    page.locator("#unsent").get_by_role("button", name="Close").click()
    page.context.set_offline(False)
    drained(page)
    second = open_desk(page.context, window)
    second.emulate_media(color_scheme=scheme)
    until(second, "desk.lease.readonly")
    found += problems(second)
    Session.objects.all().delete()
    reword(page, "d1", "signed out")
    expect(page.locator("#sign-in")).to_be_visible()
    found += problems(page)
    assert found == []


def problems(page: Page) -> list[str]:
    found = [
        f"{violation['id']} {violation['nodes'][0]['html'][:300]}"
        for violation in Axe().run(page, options=RULES | NO_STYLES).response["violations"]
    ]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("scrolls sideways")
    return found
