"""The shell of a desk, used as a person would: splitter, narrow switch, drawer, definitions, remarks, focus."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Protocol, Remark, Task
from evaluation.terms import TaskState
from tests.browser.nugget_desk import CALM, NuggetDesk, open_desk, signed_in
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

GUIDELINES = "# What a nugget is\n\nOne *fact* each.\n\n" + "\n\n".join(f"Paragraph {n}." for n in range(60))


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Ann's two tasks behind the live server: 12 passages, 12 drafts, a campaign with guidelines."""
    made = make_desk_world(tmp_path, passages=12, drafts=12)
    Protocol.objects.update(guidelines=GUIDELINES)
    return made


@pytest.fixture
def context(chromium: Browser, live_server: LiveServer, world: DeskWorld) -> Iterator[BrowserContext]:
    made = signed_in(chromium, live_server, world.client())
    yield made
    made.close()


@pytest.fixture
def desk(context: BrowserContext, world: DeskWorld) -> NuggetDesk:
    return open_desk(context, world, world.post_edit)


def narrow(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 600})


def share(desk: NuggetDesk) -> int:
    """The left pane's share of the width, measured."""
    widths = [desk.page.locator(name).bounding_box() for name in ("#passages", "#main")]
    return round(100 * widths[0]["width"] / widths[1]["width"])  # type: ignore[index]


def test_a_desk_opens_without_a_complaint(desk: NuggetDesk) -> None:
    desk.page.wait_for_timeout(500)
    assert desk.console_errors == []


def test_the_splitter_moves_by_keyboard_and_goes_back(desk: NuggetDesk) -> None:
    line = desk.page.get_by_role("separator", name="Resize panes")
    line.focus()
    before = share(desk)
    desk.page.keyboard.press("ArrowLeft")
    assert share(desk) == before - 2
    desk.page.keyboard.press("ArrowRight")
    desk.page.keyboard.press("ArrowRight")
    assert share(desk) == before + 2
    desk.page.keyboard.press("Home")
    assert (share(desk), line.get_attribute("aria-valuenow")) == (25, "25")
    desk.page.keyboard.press("End")
    assert (share(desk), line.get_attribute("aria-valuenow")) == (75, "75")
    desk.page.keyboard.press("Enter")
    assert share(desk) == before


def test_the_splitter_moves_by_pointer(desk: NuggetDesk) -> None:
    box = desk.page.locator(".desk-split").bounding_box()
    assert box
    desk.page.mouse.move(box["x"] + box["width"] / 2, 400)
    desk.page.mouse.down()
    desk.page.mouse.move(576, 420)
    desk.page.mouse.up()
    desk.page.mouse.move(1000, 420)
    assert share(desk) == 40
    desk.page.locator(".desk-split").dblclick()
    assert share(desk) == 57


def test_the_width_is_remembered(desk: NuggetDesk) -> None:
    desk.page.locator(".desk-split").focus()
    desk.page.keyboard.press("Home")
    with desk.page.expect_response("**/beat/"):
        desk.page.evaluate(
            "import('/static/js/nuggets/main.js').then(async (main) => (await main.desk).clock.beat())"
        )
    desk.reload()
    assert share(desk) == 25


def test_on_a_narrow_screen_each_pane_keeps_its_place(desk: NuggetDesk) -> None:
    narrow(desk.page)
    read, judge = (desk.page.get_by_role("button", name=name, exact=True) for name in ("Read", "Judge"))
    read.click()
    expect(desk.page.locator("#rows")).to_be_hidden()
    desk.page.evaluate("scrollTo(0, 700)")
    judge.click()
    expect(desk.page.locator("#passages")).to_be_hidden()
    assert judge.get_attribute("aria-pressed") == "true"
    desk.page.evaluate("scrollTo(0, 300)")
    read.click()
    assert abs(desk.page.evaluate("scrollY") - 700) < 2
    judge.click()
    assert abs(desk.page.evaluate("scrollY") - 300) < 2


def test_on_narrow_screens_bars_scroll_away_and_nothing_sticks_out(desk: NuggetDesk) -> None:
    for width in (390, 320):
        desk.page.set_viewport_size({"width": width, "height": 256})
        for name in ("Read", "Judge"):
            desk.page.get_by_role("button", name=name, exact=True).click()
            assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, name)
        desk.page.evaluate("scrollTo(0, 900)")
        for bar in (".desk-head", ".desk-actions"):
            assert desk.page.locator(bar).evaluate("(bar) => getComputedStyle(bar).position") == "static"


def test_a_skip_link_goes_to_its_pane_though_it_is_hidden(desk: NuggetDesk) -> None:
    narrow(desk.page)
    desk.page.get_by_role("button", name="Read", exact=True).click()
    desk.page.get_by_role("link", name="Skip to the nuggets").focus()
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator("#rows")).to_be_visible()
    assert desk.focused("e.id") == "rows"


def test_w_goes_to_the_other_pane_and_back_to_the_same_row(desk: NuggetDesk) -> None:
    desk.first_row.focus()
    desk.page.keyboard.press("ArrowDown")
    row = desk.focused("e.id")
    desk.page.keyboard.press("w")
    assert desk.focused("Boolean(e.closest('#passages'))")
    desk.page.keyboard.press("w")
    assert desk.focused("e.id") == row


def test_guidelines_open_over_the_rows_and_give_the_focus_back(desk: NuggetDesk) -> None:
    button = desk.page.get_by_role("button", name="Guidelines")
    button.focus()
    desk.page.keyboard.press("Enter")
    drawer = desk.page.get_by_role("dialog", name="Guidelines")
    expect(drawer.get_by_text("One fact each.")).to_be_visible()
    expect(drawer.get_by_role("heading", name="What a nugget is", level=3)).to_be_visible()
    assert desk.focused("e.id") == "h-guidelines"
    assert button.get_attribute("aria-expanded") == "true"
    assert desk.page.locator("#rows").evaluate("(rows) => rows.inert")
    assert not desk.page.locator("#passages").evaluate("(pane) => pane.inert")
    assert len(desk.page.context.pages) == 1
    desk.page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    assert desk.focused("e.dataset.act") == "guidelines"
    assert not desk.page.locator("#rows").evaluate("(rows) => rows.inert")


def test_guidelines_that_fail_to_load_can_be_asked_for_again(desk: NuggetDesk) -> None:
    desk.page.route("**/guidelines/*", lambda route: route.abort())
    button = desk.page.get_by_role("button", name="Guidelines")
    button.click()
    expect(desk.page.get_by_text("could not be loaded")).to_be_visible()
    desk.page.keyboard.press("Escape")
    desk.page.unroute("**/guidelines/*")
    button.click()
    expect(desk.page.get_by_text("One fact each.")).to_be_visible()


def test_i_explains_the_labels_of_the_row_and_escape_goes_back_to_it(desk: NuggetDesk) -> None:
    desk.first_row.focus()
    desk.page.keyboard.press("i")
    panel = desk.page.locator("#definition")
    expect(panel.get_by_text("A good answer must contain this.")).to_be_visible()
    expect(panel.get_by_text("Not looked at yet")).to_be_visible()
    expect(panel.get_by_text("Made from two or more nuggets")).to_be_hidden()
    panel.hover()
    expect(panel).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert desk.focused("e.matches('[data-keys~=row]')")


def test_the_labels_button_explains_every_label(desk: NuggetDesk) -> None:
    desk.page.get_by_role("button", name="Labels").click()
    panel = desk.page.locator("#definition")
    expect(panel.get_by_text("Made from two or more nuggets")).to_be_visible()
    box = panel.bounding_box()
    assert box
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 900


def test_a_flag_names_the_row_and_reaches_the_organizers_once(desk: NuggetDesk) -> None:
    desk.first_row.focus()
    desk.page.keyboard.press("f")
    dialog = desk.page.get_by_role("dialog", name="Flag to the organizers")
    expect(dialog.get_by_label("About")).to_have_value("N1")
    desk.page.keyboard.type("a duplicate of 3")
    desk.page.keyboard.press("Control+Enter")
    expect(dialog).to_be_hidden()
    assert desk.focused("e.matches('[data-keys~=row]')")
    stored = Remark.objects.get()
    assert (stored.kind, stored.about, stored.text) == ("flag", "N1", "a duplicate of 3")


def test_an_unsent_comment_outlives_a_reload_and_is_sent_once(desk: NuggetDesk) -> None:
    desk.page.route("**/remarks/", lambda route: route.abort())
    desk.page.get_by_role("button", name="Comment").click()
    dialog = desk.page.get_by_role("dialog", name="Comment to the organizers")
    dialog.get_by_label("Comment", exact=True).fill("P3 is in French")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_text("It is kept on this device")).to_be_visible()
    desk.page.wait_for_timeout(1200)  # what is typed is written to the disk within a second
    assert not Remark.objects.exists()
    desk.reload()
    desk.page.get_by_role("button", name="Comment").click()
    expect(dialog.get_by_label("Comment", exact=True)).to_have_value("P3 is in French")
    desk.page.unroute("**/remarks/")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_be_hidden()
    assert [remark.text for remark in Remark.objects.all()] == ["P3 is in French"]


def test_an_interruption_is_noted(desk: NuggetDesk) -> None:
    desk.page.locator("[data-timer] > summary").click()
    desk.page.get_by_label("Were you interrupted").fill("10")
    desk.page.get_by_role("button", name="Note the interruption").click()
    expect(desk.page.locator("[data-remark-said]").first).to_have_text("Noted: interrupted 10 min.")
    assert [(remark.kind, remark.text) for remark in Remark.objects.all()] == [
        ("interruption", "interrupted 10 min")
    ]


def test_the_timer_says_what_is_recorded_and_what_is_not(desk: NuggetDesk) -> None:
    desk.page.locator("[data-timer] > summary").click()
    desk.page.get_by_text("What is recorded, and what is not").click()
    for words in ("Times.", "Actions.", "Search words.", "The paths of your mouse.", "Your camera"):
        expect(desk.page.get_by_text(words, exact=False).first).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(desk.page.get_by_text("What is recorded, and what is not")).to_be_hidden()


def test_leaving_waits_until_everything_is_saved(desk: NuggetDesk) -> None:
    desk.page.route("**/ops/", lambda route: route.abort())
    desk.first_row.focus()
    desk.page.keyboard.press("a")
    desk.page.get_by_role("link", name="Save and leave").click()
    desk.page.wait_for_timeout(500)
    assert desk.page.url.endswith(desk.address)
    desk.page.unroute("**/ops/")
    desk.page.wait_for_url("**/desk/", timeout=CALM)


def test_undo_and_redo_are_buttons_that_say_what_they_would_do(desk: NuggetDesk) -> None:
    undo, redo = (desk.page.locator(f"[data-act={act}]") for act in ("undo", "redo"))
    assert undo.get_attribute("aria-disabled") == "true"
    desk.first_row.focus()
    desk.page.keyboard.press("a")
    assert undo.get_attribute("aria-disabled") == "false"
    undo.click()
    assert desk.decisions()[0] == "undecided"
    redo.click()
    assert desk.decisions()[0] == "kept"


def test_a_submitted_task_is_read_only_and_can_be_asked_for(
    context: BrowserContext, world: DeskWorld, desk: NuggetDesk
) -> None:
    Task.objects.filter(pk=world.post_edit.pk).update(state=TaskState.SUBMITTED)
    desk.reload()
    expect(desk.page.get_by_text("Version 1 is submitted.")).to_be_visible()
    expect(desk.page.get_by_role("button", name="Submit topic")).to_be_hidden()
    desk.page.get_by_role("button", name="Ask to reopen").click()
    dialog = desk.page.get_by_role("dialog", name="Ask to reopen")
    dialog.get_by_label("Why it should be reopened").fill("I missed P4")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_be_hidden()
    assert [(remark.kind, remark.text) for remark in Remark.objects.all()] == [("reopen request", "I missed P4")]
    bar = desk.page.locator("[data-notice=submitted]")
    for _ in range(2):
        expect(bar).to_contain_text("You asked to reopen it; an organizer decides.")
        expect(bar.get_by_role("button", name="Ask to reopen")).to_be_hidden()
        desk.reload()
    Remark.objects.update(answered_at=timezone.now())
    desk.reload()
    expect(bar.get_by_text("You asked")).to_be_hidden()
    expect(bar.get_by_role("button", name="Ask to reopen")).to_be_visible()


def test_why_a_task_was_reopened_stays_in_sight(desk: NuggetDesk, world: DeskWorld) -> None:
    Task.objects.filter(pk=world.post_edit.pk).update(
        state=TaskState.REOPENED, version=2, reopened_reason="Please look at P4 again"
    )
    desk.reload()
    bar = desk.page.locator("[data-notice=reopened]")
    expect(bar).to_contain_text("Reopened by an organizer as version 2. Please look at P4 again")
    desk.first_row.focus()
    desk.page.keyboard.press("ArrowDown")
    expect(bar).to_be_visible()
