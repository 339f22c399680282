"""Nothing is lost when the network or the server fails, and nothing is called saved without a receipt.

`page.route` makes faults only; all else is real. Every test ends by comparing the database with what was done.
"""

import time

import pytest
from playwright.sync_api import Page, Route, expect

from assessor.models import Operation, WorkingNugget
from tests.assessor.desk_client import Window
from tests.browser.nugget_desk import CALM, stopped_clock
from tests.browser.saving.desk_script import BAR, SAVED, desk, drained, open_desk, reword, until, wordings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]
SOON_MS = 3000  # by the page's own clock

OPS = "**/ops/"
SAID = "#line [data-text]"


def is_old(shown: str, before: str) -> bool:
    return shown == before or shown.startswith("Last saved")


def text_of(key: str) -> str:
    return WorkingNugget.objects.get(key=key).text


@pytest.mark.walk
def test_ten_changes_without_network_arrive_in_order(page: Page) -> None:
    saved = page.locator(SAVED).inner_text()
    page.context.set_offline(True)
    texts = [f"wording {number}" for number in range(10)]
    for number, text in enumerate(texts):
        reword(page, f"d{number % 3 + 1}", text)
    expect(page.locator(BAR)).to_contain_text("Not connected. 10 changes wait on this device; keep working.")
    expect(page.locator(BAR)).to_contain_text("Trying again in")
    assert is_old(page.locator(SAVED).inner_text(), saved)
    assert wordings() == []

    page.context.set_offline(False)
    expect(page.locator(BAR)).to_contain_text("All 10 changes saved")
    expect(page.locator(SAVED)).to_contain_text("Saved")
    assert wordings() == texts
    assert [text_of(key) for key in ("d1", "d2", "d3")] == ["wording 9", "wording 7", "wording 8"]
    times = list(Operation.objects.order_by("seq").values_list("client_at", flat=True))
    assert times == sorted(times)


def test_a_page_closed_offline_sends_its_work_at_the_next_visit(page: Page, window: Window) -> None:
    page.context.set_offline(True)
    texts = [f"wording {number}" for number in range(10)]
    for text in texts:
        reword(page, "d2", text)
    desk(page, "desk.save.keepText('edit:d3', {text: 'half a wo', base: 'draft fact number 3'})")
    time.sleep(0.6)
    context = page.context
    page.close()
    context.set_offline(False)
    time.sleep(1)

    context.route(OPS, lambda route: route.fulfill(status=503, body="no"))
    reopened = open_desk(context, window)
    expect(reopened.locator(BAR)).to_contain_text("11 changes wait on this device", timeout=CALM)
    expect(reopened.locator(SAID)).not_to_contain_text("from before")
    context.unroute(OPS)
    reopened.get_by_role("button", name="Try now").click()
    expect(reopened.locator(SAID)).to_contain_text("10 changes from before were sent and saved")
    assert wordings()[:10] == texts
    drained(reopened)
    expect(reopened.locator("#n-d3 textarea")).to_have_value("half a wo")
    expect(reopened.locator("#n-d2 .row-text")).to_have_text("wording 9")
    assert not desk(reopened, "desk.lease.readonly")
    until(reopened, "desk.store.row('d3').text === 'half a wo'")
    drained(reopened)
    assert wordings() == [*texts, "half a wo"]


def test_changes_left_on_the_device_are_told_of_once_they_are_saved(page: Page, window: Window) -> None:
    page.route(OPS, lambda route: route.abort())
    reword(page, "d1", "left behind")
    expect(page.locator(BAR)).to_contain_text("1 change waits")
    page.unroute(OPS)
    page.route("**/state/", lambda route: route.abort())  # what is told does not rest on it
    open_desk(page.context, window, page)
    expect(page.locator(SAID)).to_contain_text("1 change from before was sent and saved")
    expect(page.locator("#status")).to_contain_text("1 change from before was sent and saved")
    assert wordings() == ["left behind"]
    open_desk(page.context, window, page)
    reword(page, "d1", "of now")
    drained(page)
    expect(page.locator(SAID)).not_to_contain_text("from before")


def test_a_reload_loses_nothing_and_stays_writable(page: Page, window: Window) -> None:
    reword(page, "d1", "before the reload")
    reloaded = open_desk(page.context, window, page)
    drained(reloaded)
    assert not desk(reloaded, "desk.lease.readonly")
    reword(reloaded, "d1", "after the reload")
    drained(reloaded)
    assert wordings() == ["before the reload", "after the reload"]


@pytest.mark.parametrize("status", [500, 502, 403])
def test_a_failing_server_shows_in_3_s_and_nothing_is_called_saved(page: Page, status: int) -> None:
    saved = page.locator(SAVED).inner_text()
    page.route(OPS, lambda route: route.fulfill(status=status, body="<h1>no</h1>"))
    with stopped_clock(page):
        with page.expect_response(OPS):
            reword(page, "d1", "new words")
        page.clock.run_for(SOON_MS)
        expect(page.locator(BAR)).to_contain_text(f"({status})")
        assert desk(page, "desk.store.failed('d1')")
        assert is_old(page.locator(SAVED).inner_text(), saved)
    page.unroute(OPS)
    page.get_by_role("button", name="Try now").click()
    drained(page)
    assert not desk(page, "desk.store.failed('d1')")
    assert wordings() == ["new words"]


def test_a_hanging_server_is_shown_within_3_s(page: Page) -> None:
    held: list[Route] = []
    page.route(OPS, lambda route: held.append(route))  # noqa: PLW0108  (Playwright wants a function)
    saved = page.locator(SAVED).inner_text()
    with stopped_clock(page):
        with page.expect_request(OPS):
            reword(page, "d1", "new words")
        page.clock.run_for(SOON_MS)
        expect(page.locator(BAR)).to_contain_text("has not answered yet")
        assert desk(page, "desk.store.failed('d1')")
        assert is_old(page.locator(SAVED).inner_text(), saved)
    held[0].abort()
    page.unroute(OPS)
    drained(page)
    assert wordings() == ["new words"]


def test_a_page_that_is_no_answer_is_not_a_receipt(page: Page) -> None:
    page.route(OPS, lambda route: route.fulfill(status=200, content_type="text/html", body="Log in to the Wi-Fi"))
    with stopped_clock(page):
        with page.expect_response(OPS):
            reword(page, "d1", "new words")
        page.clock.run_for(SOON_MS)
        expect(page.locator(BAR)).to_contain_text("1 change waits on this device")
    page.unroute(OPS)
    page.get_by_role("button", name="Try now").click()
    drained(page)
    assert wordings() == ["new words"]


@pytest.mark.walk
def test_a_lost_answer_has_one_effect_and_shows_no_error(page: Page) -> None:
    def apply_and_lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route(OPS, apply_and_lose, times=1)
    reword(page, "d1", "once")
    reword(page, "d1", "twice")
    drained(page)
    assert wordings() == ["once", "twice"]
    assert desk(page, "desk.save.setAside()") == []


def test_a_stale_token_is_renewed_unseen(page: Page) -> None:
    page.context.clear_cookies(name="csrftoken")
    reword(page, "d1", "new words")
    drained(page)
    assert page.locator("#sign-in").is_hidden()
    assert wordings() == ["new words"]


def test_hiding_the_page_sends_what_is_pending(page: Page) -> None:
    desk(page, "desk.save.halt('test')")
    reword(page, "d1", "going")
    desk(page, "desk.save.release('test')")
    page.goto("about:blank")
    deadline = time.monotonic() + CALM / 1000
    while wordings() != ["going"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert wordings() == ["going"]


def test_leaving_waits_for_the_receipts(page: Page, window: Window) -> None:
    page.route(OPS, lambda route: route.abort())
    reword(page, "d1", "new words")
    expect(page.locator(BAR)).to_contain_text("Not connected")
    here = page.url
    page.evaluate(
        """() => {
            const link = document.createElement("a");
            Object.assign(link, {href: "/accounts/password/change/", textContent: "Away"});
            document.querySelector("[data-notice=save]").after(link);
        }"""
    )
    page.get_by_role("link", name="Away").click()
    expect(page.locator(BAR)).to_contain_text("Leaving when 1 change is saved")
    time.sleep(1)
    assert page.url == here
    page.unroute(OPS)
    page.wait_for_url("**/accounts/password/change/", timeout=CALM)
    assert wordings() == ["new words"]
