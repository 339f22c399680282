"""One window writes: other tabs and other devices read until they take over, and nobody's words win silently."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from assessor.models import TimeSegment, WorkingNugget
from tests.assessor.desk_client import Window
from tests.browser.saving.desk_script import LEASE, NewDevice, desk, drained, open_desk, reword, until, wordings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


SOON_MS = 1000  # by the page's own clock


def text_of(key: str) -> str:
    return WorkingNugget.objects.get(key=key).text


def test_a_second_tab_reads_until_it_is_used_there(page: Page, window: Window) -> None:
    page.context.clock.install()
    page.context.clock.pause_at(datetime.now(UTC) + timedelta(seconds=1))
    second = open_desk(page.context, window)
    page.context.clock.run_for(SOON_MS)
    until(second, "desk.lease.readonly")
    page.context.clock.resume()
    assert second.locator("body").get_attribute("data-readonly") is not None
    expect(second.locator(LEASE)).to_contain_text("Open in another window, last active")
    assert not desk(page, "desk.lease.readonly")

    reword(page, "d1", "typed in the first")
    second.get_by_role("button", name="Use it here").click()
    until(second, "!desk.lease.readonly")
    expect(page.locator(LEASE)).to_contain_text("Moved to another window at")
    assert desk(page, "desk.lease.readonly")
    assert desk(second, "desk.store.row('d1').text") == "typed in the first"
    reword(second, "d1", "typed in the second")
    drained(second)
    assert wordings() == ["typed in the first", "typed in the second"]


def test_whoever_takes_a_desk_over_by_key_goes_on_at_a_row(page: Page, window: Window) -> None:
    second = open_desk(page.context, window)
    until(second, "desk.lease.readonly")
    second.evaluate("document.activeElement.blur()")
    second.keyboard.press("u")
    until(second, "!desk.lease.readonly")
    expect(second.locator(".row.is-current")).to_be_focused()


def test_a_duplicated_tab_is_a_window_of_its_own(page: Page, window: Window) -> None:
    own = page.evaluate("sessionStorage.getItem('assay-window')")
    second = page.context.new_page()
    second.goto("/accounts/email/")
    second.evaluate("(id) => sessionStorage.setItem('assay-window', id)", own)
    open_desk(page.context, window, second)
    until(second, "desk.lease.readonly")
    assert second.evaluate("sessionStorage.getItem('assay-window')") != own
    reword(page, "d1", "the first goes on")
    drained(page)
    assert wordings() == ["the first goes on"]


def take_over_asleep(device: NewDevice, window: Window) -> Page:
    """One device changes d1 while asleep; the other takes the desk over and changes it too. Then the first wakes."""
    first, second = open_desk(device(), window), open_desk(device(), window)
    until(second, "desk.lease.readonly")
    first.context.set_offline(True)
    reword(first, "d1", "from the first")
    second.get_by_role("button", name="Use it here").click()
    until(second, "!desk.lease.readonly")
    reword(second, "d1", "from the second")
    drained(second)
    first.context.set_offline(False)
    until(first, "desk.lease.readonly")
    expect(first.locator(LEASE)).to_contain_text("Nothing typed here is lost.")
    first.get_by_role("button", name="Show 1 unsent change").click()
    expect(first.locator("#unsent")).to_contain_text("from the first")
    first.locator("#unsent").get_by_role("button", name="Close").click()
    first.get_by_role("button", name="Use it here").click()
    expect(first.locator("#conflict")).to_contain_text("from the first")
    expect(first.locator("#conflict")).to_contain_text("from the second")
    assert wordings() == ["from the second"]
    return first


@pytest.mark.parametrize(
    ("choice", "texts"),
    [
        ("Keep mine", ["from the first"]),
        ("Keep the other", ["from the second"]),
        ("Keep both", ["from the second", "from the first"]),
    ],
)
def test_two_devices_that_changed_one_nugget_choose(
    device: NewDevice, window: Window, choice: str, texts: list[str]
) -> None:
    first = take_over_asleep(device, window)
    first.get_by_role("button", name=choice).click()
    drained(first)
    assert window.texts()[: len(texts)] == texts
    assert len(window.texts()) == 4 + len(texts)
    expect(first.locator("#nugget-rows .row-text")).to_have_text(window.texts())
    reword(first, "d1", "and on")
    drained(first)
    assert text_of("d1") == "and on"


IN_VIEW = """async () => {
  const { wordsOnScreen } = await import("/static/js/desk/screen.js");
  const wordsOf = (range, pane) => {
    const box = range.getBoundingClientRect();
    return box.width && box.bottom > pane.top && box.top < Math.min(pane.bottom, innerHeight);
  };
  let seen = 0;
  for (const [id, texts] of [["passages", ".passage-text"], ["rows", ".row-text"]]) {
    const pane = document.getElementById(id).getBoundingClientRect();
    for (const text of document.querySelectorAll(`#${id} ${texts}`)) {
      const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        for (const match of walker.currentNode.data.matchAll(/\\S+/g)) {
          const range = document.createRange();
          range.setStart(walker.currentNode, match.index);
          range.setEnd(walker.currentNode, match.index + match[0].length);
          seen += wordsOf(range, pane) ? 1 : 0;
        }
      }
    }
  }
  return [wordsOnScreen(), seen];
}"""


@pytest.mark.parametrize("height", [400, 720])
def test_the_idle_limit_follows_from_the_words_in_view(page: Page, height: int) -> None:
    page.set_viewport_size({"width": 1280, "height": height})
    counted, seen = page.evaluate(IN_VIEW)
    assert seen > 10
    assert abs(counted - seen) <= seen / 4  # lines that are cut count in part


def test_a_decision_ends_the_pause_wherever_the_focus_is(page: Page) -> None:
    page.get_by_role("button", name="Pause").click()
    assert desk(page, "desk.clock.paused")
    desk(page, "desk.store.do('edit', {key: 'd1', text: 'put away'}, {source: 'text'}) && true")
    assert desk(page, "desk.clock.paused")
    desk(page, "desk.store.do('importance', {key: 'd1', importance: 2}, {source: 'key'}) && true")
    assert not desk(page, "desk.clock.paused")


@pytest.mark.parametrize("elsewhere", [False, True])
def test_no_second_is_lost_where_another_window_takes_over(
    page: Page, device: NewDevice, window: Window, *, elsewhere: bool
) -> None:
    desk(page, "desk.clock.flush()")
    page.locator("#passages .sentence, #passages .passage-text").first.click()
    page.wait_for_timeout(3000)
    second = open_desk(device() if elsewhere else page.context, window)
    until(second, "desk.lease.readonly")
    second.get_by_role("button", name="Use it here").click()
    until(second, "!desk.lease.readonly")
    taken = datetime.now(UTC)
    reword(page, "d2", "too late")  # so that the window elsewhere hears of it now
    until(page, "desk.lease.readonly")
    second.wait_for_timeout(1500)
    desk(page, "desk.clock.flush()")
    desk(second, "desk.clock.flush()")
    mine = TimeSegment.objects.filter(window=desk(page, "desk.window")).order_by("ended_at").last()
    others = TimeSegment.objects.filter(window=desk(second, "desk.window")).order_by("started_at").first()
    assert mine is not None
    assert others is not None
    assert abs((mine.ended_at - taken).total_seconds()) < 1.5
    assert abs((others.started_at - taken).total_seconds()) < 1.5


SHIFTED = """() => new Promise((told) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) sum += hadRecentInput ? 0 : value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => told(sum), 500);
})"""


@pytest.mark.parametrize("size", [(1280, 720), (1440, 900)])
def test_what_is_said_of_another_window_moves_no_text(page: Page, window: Window, size: tuple[int, int]) -> None:
    width, height = size
    second = page.context.new_page()
    second.set_viewport_size({"width": width, "height": height})
    open_desk(page.context, window, second)
    until(second, "desk.lease.readonly")
    expect(second.locator(LEASE)).to_contain_text("Open in another window, last active")
    expect(second.get_by_role("button", name="Use it here")).to_be_in_viewport()
    shown = second.evaluate("document.querySelector('.desk-panes').getBoundingClientRect().top")
    assert second.evaluate(SHIFTED) <= 0.02
    second.get_by_role("button", name="Use it here").click()
    until(second, "!desk.lease.readonly")
    assert second.evaluate("document.querySelector('.desk-panes').getBoundingClientRect().top") == shown
    desk(second, "desk.clock.toggle()")
    expect(second.locator("[data-notice=gap]")).to_contain_text("Paused: no time is counted.")
    assert second.evaluate("document.querySelector('.desk-panes').getBoundingClientRect().top") == shown
    assert second.evaluate(SHIFTED) <= 0.02
