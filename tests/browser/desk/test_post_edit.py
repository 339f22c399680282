"""A topic post-edited with the keyboard alone, from the first key to the submitted list."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Browser, Route, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import Operation
from evaluation.models import ListedNugget, NuggetEvidence, NuggetLineage, Submission
from evaluation.terms import TaskState
from tests.browser.nugget_desk import CALM, NuggetDesk, desk_of, stopped_clock
from tests.worlds.desk import DeskWorld, draft_of, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

DRAFTS = 8
SOON_MS = 3000


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages, and eight proposals to decide about."""
    return make_desk_world(tmp_path, drafts=DRAFTS)


@pytest.fixture
def desk(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.post_edit) as ann:
        yield ann
        assert ann.console_errors == []


@pytest.mark.walk
def test_a_whole_topic_by_keyboard_only(desk: NuggetDesk, world: DeskWorld) -> None:
    assert desk.counts() == f"0 kept · 0 rejected · {DRAFTS} undecided"
    desk.is_on("N1")
    desk.press("1")  # keep the first
    desk.is_on("N2")
    desk.announces("N1 kept as vital, 7 undecided")
    desk.press("e")  # reword the second
    desk.retype("rivers carry sand to the sea")
    desk.press("Escape", "2")
    desk.is_on("N3")
    desk.press("x")  # reject the third
    desk.is_on("N4")
    merge_four_and_five(desk)
    split_six(desk)
    link_seven(desk)
    add_and_move(desk)
    desk.press("u")
    desk.is_on("N8")
    desk.press("2")
    assert desk.counts() == "8 kept · 1 rejected · 0 undecided"
    expected = [
        (draft_of(1), 2),
        ("rivers carry sand to the sea", 1),
        ("four and five in one", 2),
        ("the first half of six", 2),
        ("the second half of six", 1),
        ("banks fall where the water is fast", 2),
        (draft_of(7), 1),
        (draft_of(8), 1),
    ]
    desk.saved()
    assert [(row.text, row.importance) for row in desk.stored()] == expected
    desk.submit()
    compare_with_what_was_frozen(world, expected)


def compare_with_what_was_frozen(world: DeskWorld, expected: list[tuple[str, int]]) -> None:
    """The submitted list has the texts and importances, and knows what they come from and rest on."""
    submission = Submission.objects.get(task=world.post_edit)
    items = list(ListedNugget.objects.filter(nugget_list=submission.nugget_list).select_related("nugget_version"))
    assert [(item.nugget_version.text, item.importance) for item in items] == expected
    relations = NuggetLineage.objects.filter(child__in=[item.nugget_version_id for item in items])
    assert sorted(relations.values_list("relation", flat=True)) == [
        *("edited", "kept", "kept", "kept", "merged", "merged", "split", "split")
    ]
    evidence = NuggetEvidence.objects.filter(nugget_version=items[6].nugget_version)
    assert set(evidence.values_list("sentence", flat=True)) == {0, 2}


def merge_four_and_five(desk: NuggetDesk) -> None:
    """Mark two, merge them, and give the result a text."""
    desk.press("m", "ArrowDown", "m", "Shift+M")
    field = desk.page.get_by_label("Text", exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_value(f"{draft_of(4)}; {draft_of(5)}")
    expect(desk.page.get_by_role("button", name=f"Insert N5: {draft_of(5)}")).to_be_visible()
    desk.type("four and five in one")  # all of it is selected
    desk.press("Enter")
    desk.is_on("N9")
    desk.announces("N4 and N5 → N9")
    desk.press("1")


def split_six(desk: NuggetDesk) -> None:
    desk.is_on("N6")
    desk.press("s")
    desk.retype("the first half of six")
    desk.press("Enter")
    desk.retype("the second half of six")
    desk.press("Enter")
    desk.is_on("N10")
    desk.press("1")
    desk.is_on("N11")
    desk.press("2")


def link_seven(desk: NuggetDesk) -> None:
    """Link by typing a place, then by going to a sentence; keep."""
    desk.is_on("N7")
    desk.press("l")
    desk.type("P99 S1")
    desk.press("Enter")
    expect(desk.page.get_by_text("There is no P99 S1.")).to_be_visible()
    desk.retype("P2 S3")
    desk.press("Enter")
    desk.is_on("N7")
    desk.press("g")
    expect(desk.page.locator(".passage[data-number='2'] [data-sentence='2']")).to_be_focused()
    desk.press("ArrowDown", "l", "b")
    desk.is_on("N7")
    chips = desk.page.locator(".row:focus .chip-go")
    expect(chips).to_have_text(["P2 S3", "P3 S1"])
    desk.press("2")
    desk.is_on("N8")


def add_and_move(desk: NuggetDesk) -> None:
    desk.press("n")
    desk.type("banks fall where the water is fast")
    desk.press("Enter")
    desk.is_on("N12")
    desk.press("1")
    desk.is_on("N8")
    desk.press("ArrowDown", "Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowDown")
    desk.is_on("N12")


def test_submitting_names_undecided_nuggets_and_sends_nothing(desk: NuggetDesk) -> None:
    for _ in range(DRAFTS - 2):
        desk.press("1")
    desk.is_on("N7")
    desk.press("ArrowUp", "ArrowUp", "0", "a", "Control+Enter")
    problems = desk.page.get_by_role("group", name="Not submitted yet")
    expect(problems).to_contain_text("2 undecided", timeout=CALM)
    expect(problems.get_by_role("link")).to_have_text(["N7", "N8", "N5"])
    desk.is_on("N7")
    desk.task.refresh_from_db()
    assert desk.task.state == TaskState.IN_PROGRESS
    assert not Submission.objects.exists()
    desk.press("x", "x")  # decided, but the fifth is still neither vital nor okay
    desk.is_on("N5")
    desk.press("Control+Enter")
    desk.is_on("N5")
    desk.press("2")
    expect(problems).to_be_hidden()
    desk.submit()


def test_submitting_while_an_earlier_review_is_awaited_reviews_anew(desk: NuggetDesk) -> None:
    desk.press(*"1" * (DRAFTS - 1))
    desk.saved()
    held: list[tuple[Route, APIResponse]] = []
    desk.page.route("**/review/?part", lambda route: held.append((route, route.fetch())), times=1)
    with desk.page.expect_request("**/review/?part"):
        desk.press("Control+Enter")
    for _ in range(250):
        if held:
            break
        desk.page.wait_for_timeout(20)
    desk.press("1", "Control+Enter")
    route, response = held[0]
    route.fulfill(response=response)
    expect(desk.page.get_by_role("heading", name="Have you completed this topic?")).to_be_focused(timeout=CALM)
    expect(desk.page.get_by_role("group", name="Not submitted yet")).to_be_hidden()


def test_undo_and_redo_after_a_reload(desk: NuggetDesk) -> None:
    before = [draft_of(n) for n in range(1, DRAFTS + 1)]
    desk.press("m", "ArrowDown", "m", "Shift+M")
    desk.retype("one and two")
    desk.press("Enter")
    desk.is_on("N9")
    desk.press("u", "x")  # the third proposal
    desk.saved()
    desk.reload()
    assert desk.shown() == ["one and two", *before[3:]]
    undo = desk.page.locator("[data-act=undo]")
    expect(undo).to_have_attribute("title", "Undo: Decision")
    desk.press("Control+z")
    expect(undo).to_have_attribute("title", "Undo: Merge")
    desk.is_on("N3")
    assert desk.shown() == ["one and two", *before[2:]]
    desk.press("Control+z")
    desk.is_on("N1")
    assert desk.shown() == before
    desk.announces("N1, N2")
    desk.saved()
    assert desk.texts() == before
    desk.press("Control+Shift+z", "Control+Shift+z")
    desk.saved()
    assert desk.texts() == ["one and two", *before[3:]]
    assert desk.texts("rejected") == [draft_of(3)]


def test_one_undo_takes_back_one_stretch_of_typing(desk: NuggetDesk) -> None:
    desk.press("Enter")
    desk.type(" and more")
    desk.page.wait_for_timeout(1000)  # the first autosave
    desk.type(" and more")
    desk.press("Escape")
    desk.saved()
    assert desk.texts()[0] == f"{draft_of(1)} and more and more"
    assert Operation.objects.filter(kind="edit").values("step").distinct().count() == 1
    desk.press("Control+z")
    desk.is_on("N1")
    desk.saved()
    first = desk.stored()[0]
    assert (first.text, first.decision) == (draft_of(1), "undecided")


def test_letters_typed_into_fields_are_only_text(desk: NuggetDesk) -> None:
    keys = "1 2 3 a x m"
    desk.press("e")
    desk.retype(keys)
    desk.press("Escape")
    desk.is_on("N1")
    desk.press("n")
    desk.type(keys)
    desk.press("Escape", "c")
    comment = desk.page.locator("#remark-text")
    comment.focus()
    desk.type(keys)
    expect(comment).to_have_value(keys)
    desk.press("Escape")
    search = desk.page.get_by_label("Search")
    search.focus()
    desk.type(keys)
    expect(search).to_have_value(keys)
    desk.saved()
    rows = desk.stored("kept", "undecided", "rejected", "replaced")
    assert [row.text for row in rows] == [keys, *(draft_of(n) for n in range(2, DRAFTS + 1))]
    assert [row.decision for row in rows] == ["kept"] + ["undecided"] * (DRAFTS - 1)
    assert {row.importance for row in rows} == {0}


def test_rejecting_costs_as_few_keys_as_keeping_and_is_undone(desk: NuggetDesk) -> None:
    desk.press("1", "x", "1", "x")
    desk.is_on("N5")
    assert desk.counts() == "2 kept · 2 rejected · 4 undecided"
    desk.tab_to("#rejected > summary")
    desk.press("Enter", "Tab")
    desk.is_on("N2")
    desk.press("z")
    desk.is_on("N2")
    assert desk.counts() == "2 kept · 1 rejected · 5 undecided"


def test_the_open_composer_and_the_place_survive_a_reload(desk: NuggetDesk) -> None:
    desk.press("m", "ArrowDown", "m", "Shift+M")
    desk.retype("half written")
    desk.page.wait_for_timeout(1000)
    desk.saved()
    desk.page.evaluate(
        "async () => { const d = await (await import('/static/js/nuggets/main.js')).desk; await d.clock.beat?.(); }"
    )
    desk.reload()
    field = desk.page.get_by_label("Text", exact=True)
    expect(field).to_have_value("half written")
    field.focus()
    desk.press("Enter")
    desk.is_on("N9")
    desk.saved()
    assert desk.texts()[0] == "half written"


def test_what_was_proposed_and_what_became_of_it(desk: NuggetDesk) -> None:
    desk.press("e")
    desk.retype("draft thing number 1")
    desk.press("Escape", "d")
    row = desk.page.locator("#n-d1")
    expect(row.locator(".row-diff del")).to_contain_text("fact")
    expect(row.locator(".row-diff ins")).to_contain_text("thing")
    expect(row.locator(".row-original q")).to_have_text(draft_of(1))
    expect(row.locator(".row-tags")).to_contain_text("edited")
    desk.press("d")
    expect(row.locator(".row-change")).to_be_hidden()


def test_a_submitted_list_is_read_with_its_changes_and_offers_nothing(desk: NuggetDesk) -> None:
    desk.press("e")
    desk.retype("draft thing number 1")
    desk.press("Escape", "1")
    for _ in range(DRAFTS - 1):
        desk.press("x")
    desk.submit()
    expect(desk.page.locator("#n-d1 .row-diff ins")).to_contain_text("thing")
    for control in (".row-acts", ".importance", "[data-do=new]", ".composer"):
        expect(desk.page.locator(f"#rows {control}:visible")).to_have_count(0)
    desk.page.locator("#n-d1").focus()
    desk.press("x", "a", "e", "m")
    assert desk.shown() == ["draft thing number 1"]


def test_a_limit_warns_and_stands_in_the_way_only_at_the_end(desk: NuggetDesk, world: DeskWorld) -> None:
    type(world.post_edit.protocol).objects.update(edited_cap=1)
    desk.reload()
    desk.press("1", "1")
    assert desk.counts() == "2 of 1 kept · 1 over the limit · 0 rejected · 6 undecided"
    for _ in range(DRAFTS - 2):
        desk.press("x")
    desk.press("Control+Enter")
    problems = desk.page.get_by_role("group", name="Not submitted yet")
    expect(problems).to_contain_text("2 nuggets; this campaign allows 1.", timeout=CALM)


def test_a_row_shows_that_it_is_not_saved_and_why(desk: NuggetDesk) -> None:
    desk.page.route("**/ops/", lambda route: route.fulfill(status=500, body="no"))
    row = desk.page.locator("#n-d1")
    with stopped_clock(desk.page):
        with desk.page.expect_response("**/ops/"):
            desk.press("a")
        desk.page.clock.run_for(SOON_MS)
        expect(row.locator(".row-failing")).to_have_text("! not saved: the server had trouble")
    expect(row.locator(".row-tags")).to_contain_text("kept")
    desk.press("Control+Enter")
    desk.announces("Not connected: submitting has to wait.")
    expect(desk.page.locator("#submit-why")).to_have_text("Not connected: submitting has to wait.")
    desk.page.unroute("**/ops/")
    desk.saved()
    expect(row.locator(".row-failing")).to_be_hidden()
    assert desk.stored("kept")[0].key == "d1"
    desk.console_errors.clear()  # the browser tells of the answer 500 itself


def test_a_reload_leads_back_to_the_same_row(desk: NuggetDesk) -> None:
    desk.press("x", "ArrowDown", "ArrowDown")
    desk.is_on("N4")
    desk.saved()
    desk.reload()
    desk.is_on("N4")


def test_typing_is_kept_where_the_page_goes_away_before_the_autosave(desk: NuggetDesk) -> None:
    desk.press("ArrowDown", "e")
    desk.retype("typed just before the reload")
    desk.reload()
    desk.saved()
    assert desk.texts()[1] == "typed just before the reload"


def test_a_second_window_takes_over_and_the_first_loses_nothing(desk: NuggetDesk) -> None:
    desk.press("e")
    desk.retype("typed in the first window")
    other = desk.page.context.new_page()
    other.goto(f"/desk/{desk.task.public_id}/")
    other.locator("body[data-readonly]").wait_for(state="attached")
    expect(other.locator("#rows .row-acts:visible")).to_have_count(0)
    other.get_by_role("button", name="Use it here").click()
    expect(other.locator(".row:focus")).to_have_count(1)
    expect(other.locator("#n-d1 .row-text")).to_have_text("typed in the first window", timeout=CALM)
    expect(desk.page.locator("#n-d1 textarea")).to_have_count(0, timeout=CALM)
    expect(desk.page.locator("#n-d1 .row-text")).to_have_text("typed in the first window")
    assert desk.texts()[0] == "typed in the first window"
    other.goto("about:blank")


def test_what_was_begun_and_left_is_named_before_submitting(desk: NuggetDesk) -> None:
    page = desk.page
    desk.press("n")
    desk.type("a half-written nug")
    desk.press("Escape", "ArrowDown", "s")
    desk.type("one half of it")
    desk.press("Escape", "m", "ArrowDown", "m", "Shift+M", "Escape")  # a merge in which nothing was typed
    for row in page.locator("#nugget-rows > .row").all():
        row.focus()
        desk.press("1")
    desk.press("Control+Enter")
    begun = page.locator("dialog[open] .review p", has_text="Begun, and not in the list")
    expect(begun.locator("q")).to_have_text(["a half-written nug", f"{draft_of(2)}one half of it"])
    begun.first.get_by_role("button", name="Open it").click()
    field = page.locator(".composer textarea")
    expect(field).to_be_focused()
    expect(field).to_have_value("a half-written nug")
    desk.press("Enter", "1", "Control+Enter")
    expect(begun.locator("q")).to_have_text([f"{draft_of(2)}one half of it"])


@pytest.mark.parametrize("act", ["1", "click"])
def test_a_decision_ends_a_pause_from_wherever_the_focus_is(desk: NuggetDesk, act: str) -> None:
    pause = desk.page.get_by_role("button", name="Pause")
    pause.click()
    expect(pause).to_have_attribute("aria-pressed", "true")
    expect(pause).to_be_focused()
    if act == "1":
        desk.press("1")
    else:
        desk.page.locator("#nugget-rows > .row .is-vital input").first.check(force=True)
    expect(pause).to_have_attribute("aria-pressed", "false")
    expect(desk.page.locator("[data-notice=gap]")).to_be_hidden()
    pause.click()
    desk.page.locator("[data-act=undo]").click()
    expect(pause).to_have_attribute("aria-pressed", "false")
