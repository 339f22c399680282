"""A topic post-edited with the keyboard alone, from the first key to the submitted list."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import Operation
from evaluation.models import ListedNugget, NuggetEvidence, NuggetLineage, Submission
from evaluation.terms import TaskState
from tests.browser.nugget_desk import CALM, Hands, desk_of, stopped_clock
from tests.worlds.desk import DeskWorld, draft_of, make_desk_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

DRAFTS = 8
SOON_MS = 3000


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages, and eight proposals to decide about."""
    return make_desk_world(tmp_path, drafts=DRAFTS)


@pytest.fixture
def hands(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[Hands]:
    """Ann at the desk."""
    with desk_of(chromium, live_server, world, world.post_edit) as ann:
        yield ann
        assert ann.complaints == []


@pytest.mark.walk
def test_a_whole_topic_by_keyboard_only(hands: Hands, world: DeskWorld) -> None:
    assert hands.counts() == f"0 kept · 0 rejected · {DRAFTS} undecided"
    hands.is_on("N1")
    hands.press("1")  # keep the first
    hands.is_on("N2")
    hands.said("N1 kept as vital, 7 undecided")
    hands.press("e")  # reword the second
    hands.retype("rivers carry sand to the sea")
    hands.press("Escape", "2")
    hands.is_on("N3")
    hands.press("x")  # reject the third
    hands.is_on("N4")
    merge_four_and_five(hands)
    split_six(hands)
    link_seven(hands)
    add_and_move(hands)
    hands.press("u")
    hands.is_on("N8")
    hands.press("2")
    assert hands.counts() == "8 kept · 1 rejected · 0 undecided"
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
    hands.saved()
    assert [(row.text, row.importance) for row in hands.stored()] == expected
    hands.submit()
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


def merge_four_and_five(hands: Hands) -> None:
    """Mark two, merge them, and give the result a text."""
    hands.press("m", "ArrowDown", "m", "Shift+M")
    field = hands.page.get_by_label("Text", exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_value(f"{draft_of(4)}; {draft_of(5)}")
    expect(hands.page.get_by_role("button", name=f"Insert N5: {draft_of(5)}")).to_be_visible()
    hands.type("four and five in one")  # all of it is selected
    hands.press("Enter")
    hands.is_on("N9")
    hands.said("N4 and N5 → N9")
    hands.press("1")


def split_six(hands: Hands) -> None:
    """Split the sixth."""
    hands.is_on("N6")
    hands.press("s")
    hands.retype("the first half of six")
    hands.press("Enter")
    hands.retype("the second half of six")
    hands.press("Enter")
    hands.is_on("N10")
    hands.press("1")
    hands.is_on("N11")
    hands.press("2")


def link_seven(hands: Hands) -> None:
    """Link by typing a place, then by going to a sentence; keep."""
    hands.is_on("N7")
    hands.press("l")
    hands.type("P99 S1")
    hands.press("Enter")
    expect(hands.page.get_by_text("There is no P99 S1.")).to_be_visible()
    hands.retype("P2 S3")
    hands.press("Enter")
    hands.is_on("N7")
    hands.press("g")
    expect(hands.page.locator(".passage[data-number='2'] [data-sentence='2']")).to_be_focused()
    hands.press("ArrowDown", "l", "b")
    hands.is_on("N7")
    chips = hands.page.locator(".row:focus .chip-go")
    expect(chips).to_have_text(["P2 S3", "P3 S1"])
    hands.press("2")
    hands.is_on("N8")


def add_and_move(hands: Hands) -> None:
    """Write a nugget of one's own, and move it up before the last two."""
    hands.press("n")
    hands.type("banks fall where the water is fast")
    hands.press("Enter")
    hands.is_on("N12")
    hands.press("1")
    hands.is_on("N8")
    hands.press("ArrowDown", "Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowDown")
    hands.is_on("N12")


def test_submitting_names_undecided_nuggets_and_sends_nothing(hands: Hands) -> None:
    for _ in range(DRAFTS - 2):
        hands.press("1")
    hands.is_on("N7")
    hands.press("ArrowUp", "ArrowUp", "0", "a", "Control+Enter")
    problems = hands.page.get_by_role("group", name="Not submitted yet")
    expect(problems).to_contain_text("2 undecided", timeout=CALM)
    expect(problems.get_by_role("link")).to_have_text(["N7", "N8", "N5"])
    hands.is_on("N7")
    hands.task.refresh_from_db()
    assert hands.task.state == TaskState.IN_PROGRESS
    assert not Submission.objects.exists()
    hands.press("x", "x")  # decided, but the fifth is still neither vital nor okay
    hands.is_on("N5")
    hands.press("Control+Enter")
    hands.is_on("N5")
    hands.press("2")
    expect(problems).to_be_hidden()
    hands.submit()


def test_undo_and_redo_after_a_reload(hands: Hands) -> None:
    before = [draft_of(n) for n in range(1, DRAFTS + 1)]
    hands.press("m", "ArrowDown", "m", "Shift+M")
    hands.retype("one and two")
    hands.press("Enter")
    hands.is_on("N9")
    hands.press("u", "x")  # the third proposal
    hands.saved()
    hands.reload()
    assert hands.shown() == ["one and two", *before[3:]]
    hands.press("Control+z")
    hands.is_on("N3")
    assert hands.shown() == ["one and two", *before[2:]]
    hands.press("Control+z")
    hands.is_on("N1")
    assert hands.shown() == before
    hands.said("N1, N2")
    hands.saved()
    assert hands.texts() == before
    hands.press("Control+Shift+z", "Control+Shift+z")
    hands.saved()
    assert hands.texts() == ["one and two", *before[3:]]
    assert hands.texts("rejected") == [draft_of(3)]


def test_one_undo_takes_back_one_stretch_of_typing(hands: Hands) -> None:
    hands.press("Enter")
    hands.type(" and more")
    hands.page.wait_for_timeout(1000)  # the first autosave
    hands.type(" and more")
    hands.press("Escape")
    hands.saved()
    assert hands.texts()[0] == f"{draft_of(1)} and more and more"
    assert Operation.objects.filter(kind="edit").values("step").distinct().count() == 1
    hands.press("Control+z")
    hands.is_on("N1")
    hands.saved()
    first = hands.stored()[0]
    assert (first.text, first.decision) == (draft_of(1), "undecided")


def test_letters_typed_into_fields_are_only_text(hands: Hands) -> None:
    keys = "1 2 3 a x m"
    hands.press("e")
    hands.retype(keys)
    hands.press("Escape")
    hands.is_on("N1")
    hands.press("n")
    hands.type(keys)
    hands.press("Escape", "c")
    comment = hands.page.locator("#remark-text")
    comment.focus()
    hands.type(keys)
    expect(comment).to_have_value(keys)
    hands.press("Escape")
    search = hands.page.get_by_label("Search")
    search.focus()
    hands.type(keys)
    expect(search).to_have_value(keys)
    hands.saved()
    rows = hands.stored("kept", "undecided", "rejected", "replaced")
    assert [row.text for row in rows] == [keys, *(draft_of(n) for n in range(2, DRAFTS + 1))]
    assert [row.decision for row in rows] == ["kept"] + ["undecided"] * (DRAFTS - 1)
    assert {row.importance for row in rows} == {0}


def test_rejecting_costs_as_few_keys_as_keeping_and_is_undone(hands: Hands) -> None:
    hands.press("1", "x", "1", "x")
    hands.is_on("N5")
    assert hands.counts() == "2 kept · 2 rejected · 4 undecided"
    hands.tab_to("#rejected > summary")
    hands.press("Enter", "Tab")
    hands.is_on("N2")
    hands.press("z")
    hands.is_on("N2")
    assert hands.counts() == "2 kept · 1 rejected · 5 undecided"


def test_the_open_composer_and_the_place_survive_a_reload(hands: Hands) -> None:
    hands.press("m", "ArrowDown", "m", "Shift+M")
    hands.retype("half written")
    hands.page.wait_for_timeout(1000)
    hands.saved()
    hands.page.evaluate(
        "async () => { const d = await (await import('/static/js/nuggets/main.js')).desk; await d.clock.beat?.(); }"
    )
    hands.reload()
    field = hands.page.get_by_label("Text", exact=True)
    expect(field).to_have_value("half written")
    field.focus()
    hands.press("Enter")
    hands.is_on("N9")
    hands.saved()
    assert hands.texts()[0] == "half written"


def test_what_was_proposed_and_what_became_of_it(hands: Hands) -> None:
    hands.press("e")
    hands.retype("draft thing number 1")
    hands.press("Escape", "d")
    row = hands.page.locator("#n-d1")
    expect(row.locator(".row-diff del")).to_contain_text("fact")
    expect(row.locator(".row-diff ins")).to_contain_text("thing")
    expect(row.locator(".row-original q")).to_have_text(draft_of(1))
    expect(row.locator(".row-tags")).to_contain_text("edited")
    hands.press("d")
    expect(row.locator(".row-change")).to_be_hidden()


def test_a_submitted_list_is_read_with_its_changes_and_offers_nothing(hands: Hands) -> None:
    hands.press("e")
    hands.retype("draft thing number 1")
    hands.press("Escape", "1")
    for _ in range(DRAFTS - 1):
        hands.press("x")
    hands.submit()
    expect(hands.page.locator("#n-d1 .row-diff ins")).to_contain_text("thing")
    for control in (".row-acts", ".importance", "[data-do=new]", ".composer"):
        expect(hands.page.locator(f"#rows {control}:visible")).to_have_count(0)
    hands.page.locator("#n-d1").focus()
    hands.press("x", "a", "e", "m")
    assert hands.shown() == ["draft thing number 1"]


def test_a_limit_warns_and_stands_in_the_way_only_at_the_end(hands: Hands, world: DeskWorld) -> None:
    type(world.post_edit.protocol).objects.update(edited_cap=1)
    hands.reload()
    hands.press("1", "1")
    assert hands.counts() == "2 of 1 kept · 1 over the limit · 0 rejected · 6 undecided"
    for _ in range(DRAFTS - 2):
        hands.press("x")
    hands.press("Control+Enter")
    problems = hands.page.get_by_role("group", name="Not submitted yet")
    expect(problems).to_contain_text("2 nuggets; this campaign allows 1.", timeout=CALM)


def test_a_row_shows_that_it_is_not_saved_and_why(hands: Hands) -> None:
    hands.page.route("**/ops/", lambda route: route.fulfill(status=500, body="no"))
    row = hands.page.locator("#n-d1")
    with stopped_clock(hands.page):
        with hands.page.expect_response("**/ops/"):
            hands.press("a")
        hands.page.clock.run_for(SOON_MS)
        expect(row.locator(".row-failing")).to_have_text("! not saved: the server had trouble")
    expect(row.locator(".row-tags")).to_contain_text("kept")
    hands.press("Control+Enter")
    hands.said("Not connected: submitting has to wait.")
    expect(hands.page.locator("#submit-why")).to_have_text("Not connected: submitting has to wait.")
    hands.page.unroute("**/ops/")
    hands.saved()
    expect(row.locator(".row-failing")).to_be_hidden()
    assert hands.stored("kept")[0].key == "d1"
    hands.complaints.clear()  # the browser tells of the answer 500 itself


def test_a_reload_leads_back_to_the_same_row(hands: Hands) -> None:
    hands.press("x", "ArrowDown", "ArrowDown")
    hands.is_on("N4")
    hands.saved()
    hands.reload()
    hands.is_on("N4")


def test_typing_is_kept_where_the_page_goes_away_before_the_autosave(hands: Hands) -> None:
    hands.press("ArrowDown", "e")
    hands.retype("typed just before the reload")
    hands.reload()
    hands.saved()
    assert hands.texts()[1] == "typed just before the reload"


def test_a_second_window_takes_over_and_the_first_loses_nothing(hands: Hands) -> None:
    hands.press("e")
    hands.retype("typed in the first window")
    other = hands.page.context.new_page()
    other.goto(f"/desk/{hands.task.public_id}/")
    other.locator("body[data-readonly]").wait_for(state="attached")
    expect(other.locator("#rows .row-acts:visible")).to_have_count(0)
    other.get_by_role("button", name="Use it here").click()
    expect(other.locator(".row:focus")).to_have_count(1)
    expect(other.locator("#n-d1 .row-text")).to_have_text("typed in the first window", timeout=CALM)
    expect(hands.page.locator("#n-d1 textarea")).to_have_count(0, timeout=CALM)
    expect(hands.page.locator("#n-d1 .row-text")).to_have_text("typed in the first window")
    assert hands.texts()[0] == "typed in the first window"
    other.goto("about:blank")
