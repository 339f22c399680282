"""Acceptance check 104: after a crash the next window writes by itself, at once with a key, where work is left."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from assessor.models import Desk
from tests.assessor.desk_client import Window
from tests.browser.nugget_desk import LAST_WORDS
from tests.browser.saving.desk_script import LEASE, NewDevice, desk, drained, open_desk, until, wordings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

WRITABLE_S = 10  # what is left of the 30 s, with time for a busy machine
READ_ONLY = "Read-only: press u to use it here"


def crash(page: Page) -> None:
    page.context.set_offline(True)
    # A request that left before then is answered first: it would say that the window lives.
    page.wait_for_timeout(LAST_WORDS)
    page.close()


def decide(page: Page, *keys: str) -> None:
    for key in keys:
        page.locator(f"#n-{key}").focus()
        page.keyboard.press("1")
    drained(page)


def silent_for(seconds: int) -> None:
    """Let time pass without a word from the window that writes."""
    Desk.objects.update(held_at=timezone.now() - timedelta(seconds=seconds))


def test_after_a_crash_the_next_window_writes_by_itself(device: NewDevice, page: Page, window: Window) -> None:
    decide(page, "d1", "d2")
    crash(page)
    silent_for(24)
    newcomer = open_desk(device(), window)
    assert desk(newcomer, "desk.lease.readonly")
    notice = newcomer.locator(LEASE).inner_text()
    assert "last active 2" in notice
    until(newcomer, "!desk.lease.readonly", WRITABLE_S)
    expect(newcomer.locator("#n-d3")).to_be_focused()
    newcomer.keyboard.press("x")
    drained(newcomer)
    assert window.state()["rows"][2]["decision"] == "rejected"


def test_the_age_of_the_other_window_counts_up(device: NewDevice, page: Page, window: Window) -> None:
    assert not desk(page, "desk.lease.readonly")
    Desk.objects.update(holder_page="hidden", held_at=timezone.now() - timedelta(seconds=40))
    newcomer = open_desk(device(), window)
    ages = []
    for _ in range(3):
        ages.append(newcomer.locator(LEASE).inner_text())
        newcomer.wait_for_timeout(1100)
    assert len(set(ages)) == 3


def test_a_live_window_is_not_taken_over_until_somebody_asks(
    device: NewDevice, page: Page, window: Window
) -> None:
    newcomer = open_desk(device(), window)
    silent_for(24)
    desk(page, "desk.clock.beat()")
    newcomer.wait_for_timeout(8000)
    assert desk(newcomer, "desk.lease.readonly")
    assert not desk(page, "desk.lease.readonly")


def test_a_read_only_key_says_why_and_u_takes_the_desk_over(device: NewDevice, page: Page, window: Window) -> None:
    decide(page, "d1")
    newcomer = open_desk(device(), window)
    newcomer.locator("#n-d2").focus()
    for key in ("x", "1", "m", "Control+z"):
        newcomer.evaluate("document.querySelector('#line [data-text]').textContent = ''")
        newcomer.keyboard.press(key)
        expect(newcomer.locator("#line [data-text]")).to_contain_text(READ_ONLY)
    assert newcomer.locator("[data-act=undo]").get_attribute("aria-disabled") == "true"
    newcomer.evaluate("document.activeElement.blur()")
    newcomer.keyboard.press("u")
    until(newcomer, "!desk.lease.readonly")
    assert newcomer.locator("[data-act=undo]").get_attribute("aria-disabled") == "false"
    decide(newcomer, "d2")
    until(page, "desk.lease.readonly")
    assert wordings() == []
    assert [row["decision"] for row in window.state()["rows"][:3]] == ["kept", "kept", "undecided"]


def test_a_window_that_was_left_is_gone_back_to_at_its_place(
    device: NewDevice, page: Page, window: Window
) -> None:
    page.locator("#n-d3").focus()
    desk(page, "desk.clock.beat()")
    page.goto("/desk/")
    Desk.objects.update(holder_page="left")  # the last beat of a page may come late
    newcomer = open_desk(device(), window)
    assert desk(newcomer, "desk.nuggets.current") == "d3"
