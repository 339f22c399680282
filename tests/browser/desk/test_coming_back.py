"""Acceptance checks 11, 12 and 16 on the real page: what a reload brings back, and what a reopened topic is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import Desk, TimeSegment
from evaluation.models import ListedNugget, Submission
from tests.assessor.desk_client import Window
from tests.browser.nugget_desk import CALM, NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, draft_of, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

DRAFTS = 20
SLACK = 8  # pixels
PLACE = """() => ({
  row: document.querySelector(".row.is-current")?.id,
  focus: document.activeElement.closest(".composer") ? "composer" : document.activeElement.id,
  rows: document.getElementById("rows").scrollTop,
  passages: document.getElementById("passages").scrollTop,
  filter: document.querySelector("[data-filter][aria-pressed=true]").dataset.filter,
  composer: document.querySelector(".composer textarea")?.value,
  marked: [...document.querySelectorAll(".row.is-marked")].map((one) => one.id),
  split: document.querySelector(".desk-split").getAttribute("aria-valuenow"),
  rejected: document.getElementById("rejected").open,
})"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path, passages=16, drafts=DRAFTS)


@pytest.fixture
def ann(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.post_edit) as desk:
        yield desk
        assert desk.console_errors == []


def test_a_reload_in_the_middle_leads_back_to_the_same_place(ann: NuggetDesk) -> None:
    page = ann.page
    ann.press("x", *["ArrowDown"] * 11, "m", "ArrowDown", "m")
    page.get_by_role("button", name="Not linked").click()
    page.locator(".desk-split").press("ArrowLeft")
    page.locator("#passages").evaluate("(pane) => pane.scrollTo(0, 700)")
    page.locator(".row.is-current").press("Shift+M")
    ann.retype("half written")
    page.locator("#rows").evaluate("(pane) => pane.scrollTo(0, 240)")
    before = settled(ann)
    assert (before["composer"], before["filter"], before["passages"]) == ("half written", "not-linked", 700)
    ann.reload()
    assert settled(ann) == about(before)
    ann.press("Escape")
    page.locator(".row.is-current").focus()
    page.locator("#rejected > summary").press("Enter")
    page.locator("#nugget-rows > .row").nth(14).focus()
    before = settled(ann)
    ann.reload()
    assert settled(ann) == about(before)
    elsewhere(ann, before)


def elsewhere(ann: NuggetDesk, before: dict[str, Any]) -> None:
    """On another device, which has only what the server knows, it is the same place."""
    ann.page.evaluate(
        "async () => { const d = await (await import('/static/js/nuggets/main.js')).desk; await d.clock.beat(); }"
    )
    Desk.objects.update(holder_page="left")  # as the page says when it is left, which is kept from it here
    ann.page.evaluate("sessionStorage.clear()")
    ann.page.evaluate("addEventListener('pagehide', (event) => event.stopImmediatePropagation(), true)")
    ann.page.evaluate("Storage.prototype.setItem = () => {}")
    ann.reload()
    assert settled(ann) == about(before)


def settled(ann: NuggetDesk) -> dict[str, Any]:
    ann.page.wait_for_timeout(1000)  # the composer's draft is saved 800 ms after the last key
    ann.saved()
    place: dict[str, Any] = ann.page.evaluate(PLACE)
    return place


def about(place: dict[str, Any]) -> dict[str, Any]:
    """The place; a scroll may differ by less than a line, as of rows that stand open."""
    return place | {pane: pytest.approx(place[pane], abs=SLACK) for pane in ("rows", "passages")}


def test_merge_reject_and_delete_are_undone_and_redone_after_reloads(ann: NuggetDesk) -> None:
    first = [draft_of(n) for n in range(1, 5)]
    ann.press("m", "ArrowDown", "m", "Shift+M")
    ann.retype("one and two")
    ann.press("Enter", "u", "x", "n")
    ann.type("my own")
    ann.press("Enter", "x")  # what one wrote oneself is deleted by rejecting it
    done = ["one and two", *(draft_of(n) for n in range(4, DRAFTS + 1))]
    for _ in range(2):
        ann.saved()
        ann.reload()
        assert ann.shown() == done
        ann.press(*["Control+z"] * 4)
        ann.saved()
        ann.reload()
        assert ann.shown()[:4] == first
        assert len(ann.shown()) == DRAFTS
        ann.press(*["Control+Shift+z"] * 4)
    ann.saved()
    assert ann.texts() == done
    assert sorted(ann.texts("rejected")) == [draft_of(3), "my own"]


def test_a_finished_topic_reopens_as_a_copy_with_its_own_time(ann: NuggetDesk, world: DeskWorld) -> None:
    finish(ann, world)
    ann.reload()
    ann.submit()
    first = [item.pk for item in ListedNugget.objects.all()]
    ann.page.get_by_role("button", name="Ask to reopen").press("Enter")
    ann.page.get_by_label("Why it should be reopened").fill("I missed P4")
    ann.press("Control+Enter")
    expect(ann.page.get_by_role("dialog")).to_be_hidden(timeout=CALM)
    reopen(ann, world)
    ann.reload()
    bar = ann.page.locator("[data-notice=reopened]")
    expect(bar).to_contain_text("Reopened by an organizer as version 2. Look at P4, please.")
    assert ann.shown() == [draft_of(n) for n in range(1, DRAFTS + 1)]
    ann.page.locator("#n-d1").focus()
    ann.press("e")
    ann.retype("reworded in version 2")
    ann.press("Escape")
    ann.submit()
    assert [item.pk for item in ListedNugget.objects.filter(pk__in=first)] == first
    read_both(ann)
    assert list(Submission.objects.order_by("version").values_list("version", flat=True)) == [1, 2]
    assert set(TimeSegment.objects.values_list("submission", flat=True)) == {1, 2}


def finish(ann: NuggetDesk, world: DeskWorld) -> None:
    """Keep everything, in a window beside the page, which takes the desk and lets it go."""
    beside = Window(world.client(), ann.task)
    beside.post("hold/", {"window": beside.window, "want": "take"})
    beside.finish()
    beside.post("hold/", {"window": beside.window, "want": "release"})


def reopen(ann: NuggetDesk, world: DeskWorld) -> None:
    """Olga finds the request and reopens the topic, in a browser of her own."""
    browser = ann.page.context.browser
    assert browser
    context = browser.new_context()
    server = ann.page.evaluate("location.origin")
    context.add_cookies(
        [{"name": "sessionid", "value": world.client("olga").cookies["sessionid"].value, "url": server}]
    )
    page: Page = context.new_page()
    page.goto(server + reverse("organizer:inbox", args=["river"]))
    expect(page.get_by_text("I missed P4")).to_be_visible()
    page.goto(server + reverse("organizer:task", args=["river", ann.task.public_id]))
    page.get_by_text("Reopen…").click()
    page.locator("#reason-reopen").fill("Look at P4, please.")
    page.get_by_role("button", name="Reopen", exact=True).click()
    expect(page.get_by_text("Look at P4, please.").first).to_be_visible()
    context.close()


def read_both(ann: NuggetDesk) -> None:
    ann.page.goto(f"/desk/{ann.task.public_id}/history/")
    for version, text in (("Version 1", draft_of(1)), ("Version 2", "reworded in version 2")):
        fold = ann.page.locator("details.past", has=ann.page.get_by_text(version, exact=True)).first
        fold.locator("summary").click()
        expect(fold.get_by_text(text, exact=True)).to_be_visible()
