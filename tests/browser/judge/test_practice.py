"""Practice at the desk: its keys, what is known after each label, undo, no network, both themes and a phone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from assessor.models import Operation, PracticeAnswer, TimeSegment
from evaluation.battles import BattleOrder, draw_battles
from evaluation.models import Task
from evaluation.stages import BATTLE, GRADE
from tests.browser.accessibility import axe
from tests.browser.nugget_desk import CALM, LAST_WORDS, signed_in
from tests.browser.pages.test_axe import problems_on
from tests.worlds.desk import make_desk_world
from tests.worlds.judging_desk import JudgeWorld, make_judge_world, make_judging_task
from tests.worlds.practice import ALL, item, load_practice, practise

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LONG = item("assign", "a3", "partial_support", text="a" * 200, statement="نعم " * 60)
Open = Callable[[Task, str], Page]
IS_ABOVE_THE_LINE = """() => {
  const { top, bottom } = document.querySelector(".row.is-current .known-label").getBoundingClientRect();
  return top > 0 && bottom <= document.getElementById("line").getBoundingClientRect().top;
}"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    """Ann has answers to assign and, with the machine's label shown, citations to judge; Ben judges them unaided."""
    world = make_judge_world(tmp_path)
    load_practice(world.campaign, tmp_path, [*ALL, LONG])
    return world


@pytest.fixture
def practice_at(world: JudgeWorld, chromium: Browser, live_server: LiveServer) -> Iterator[Open]:
    pages: list[Page] = []

    def opened(task: Task, address: str = "practice/") -> Page:
        pages.append(signed_in(chromium, live_server, world.client(task.assessor.username)).new_page())
        pages[-1].goto(f"/desk/{task.public_id}/{address}")
        if address.startswith("practice/"):
            ready(pages[-1])
        return pages[-1]

    yield opened
    for page in pages:
        page.goto("about:blank")
        page.wait_for_timeout(LAST_WORDS)
        page.context.close()


def ready(page: Page) -> None:
    expect(page.locator("body[data-ready]")).to_be_attached(timeout=CALM)
    expect(page.locator("#answer-text :is(.sentence, .object)").first).to_be_visible(timeout=CALM)


def known(page: Page) -> str:
    """What is told of the highlighted row or pair, once the server has its label."""
    part = page.locator(".row.is-current .known-label, #pair .known-label").first
    expect(part).to_be_visible(timeout=CALM)
    return " ".join(part.inner_text().split())


def given() -> list[int]:
    return list(PracticeAnswer.objects.order_by("pk").values_list("label", flat=True))


def test_practice_is_done_with_the_desk_s_keys(world: JudgeWorld, practice_at: Open) -> None:
    """Own keys count, and nothing of it is work."""
    ann = User.objects.get(username="ann")
    ann.desk_settings = {**ann.desk_settings, "keys": {"label-3": ["n"]}}
    ann.save()
    page = practice_at(world.assign, "")
    page.get_by_role("link", name="Practise").press("Enter")
    ready(page)
    expect(page.locator(".desk-topic")).to_have_text("Practice question of a1")
    expect(page.locator(".known-label:visible")).to_have_count(0)
    page.keyboard.press("1")
    assert known(page) == "Known label: ● Support, as yours because of a1"
    page.keyboard.press("u")
    expect(page.locator(".desk-topic")).to_have_text("Practice question of a2")
    page.keyboard.press("2")
    assert known(page) == "Known label: ○ Not, other than yours because of a2"
    page.keyboard.press("Control+Enter")
    expect(page.locator("#answer-head")).to_have_text("Answer 3 of 3")
    page.keyboard.press("n")
    known(page)
    expect(page.locator("#progress")).to_contain_text("3 of 3 judged")
    page.keyboard.press("Control+Enter")
    page.get_by_text("You have practised: 1 of 3 as known").wait_for()
    assert given() == [2, 1, 0]
    assert not Operation.objects.exists()
    assert not TimeSegment.objects.exists()


def test_what_is_practised_again_changes_no_first_answer(world: JudgeWorld, practice_at: Open) -> None:
    practise(world.assign, world.people["ann"], wrong=1)
    before = given()
    page = practice_at(world.assign, "")
    for _ in range(2):
        page.get_by_role("link", name="Practise again").press("Enter")
        ready(page)
        expect(page.locator("#progress")).to_contain_text("0 of 3 judged")
        page.keyboard.press("1")
        assert known(page) == "Known label: ● Support, as yours because of a1"
        page.keyboard.press("]")
        page.get_by_role("link", name="leave").press("Enter")
        page.goto(f"/desk/{world.assign.public_id}/")
        page.get_by_text("You have practised: 2 of 3 as known").wait_for()
    page.get_by_role("link", name="Look at it again").press("Enter")
    ready(page)
    expect(page.locator("#progress")).to_contain_text("3 of 3 judged")
    assert known(page) == "Known label: ● Support, other than yours because of a1"
    assert given() == before


def test_citations_are_practised_beside_their_passage(world: JudgeWorld, practice_at: Open) -> None:
    page = practice_at(world.scratch, "practice/")
    expect(page.locator("#pair-sentence")).to_have_text("statement s1")
    expect(page.locator("#cited")).to_contain_text("text of s1")
    expect(page.locator("#shown")).to_have_count(0)
    page.keyboard.press("1")
    assert known(page) == "Known label: ● Full, as yours because of s1"
    page.keyboard.press("j")
    expect(page.locator("#pair-sentence")).to_have_text("statement s2")
    assert given() == [2]


def test_the_machine_s_label_is_accepted_by_the_desk_s_key(world: JudgeWorld, practice_at: Open) -> None:
    page = practice_at(world.shown, "practice/")
    expect(page.locator("#shown-chip")).to_have_text("Machine label: Full")
    page.keyboard.press("a")
    assert known(page) == "Known label: ◐ Partial, other than yours because of m1"


def test_importance_is_practised_by_the_keys_of_the_nugget_desk(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    world = make_desk_world(tmp_path)
    load_practice(world.campaign, tmp_path, ALL)
    ann = world.people["ann"]
    ann.desk_settings = {**ann.desk_settings, "keys": {"okay": ["y"]}}
    ann.save()
    context = signed_in(chromium, live_server, world.client())
    page = context.new_page()
    url = f"/desk/{world.manual.public_id}/practice/"
    found = problems_on(page, url)
    ready(page)
    expect(page.locator("#answer-head")).to_have_text("Question 1 of 2")
    expect(page.locator("#answer-text")).to_contain_text("question of i1")
    expect(page.locator(".desk-topic")).to_have_text("Practice question of i1")
    page.keyboard.press("1")
    assert known(page) == "Known label: ◆ Vital, as yours because of i1"
    page.keyboard.press("u")
    page.keyboard.press("3")  # gives no label here
    page.keyboard.press("y")
    assert known(page) == "Known label: ◇ Okay, as yours because of i2"
    assert given() == [2, 1]
    found += problems_on(page, url)
    page.goto("about:blank")
    context.close()
    assert found == []


def test_grades_are_practised_by_the_keys_of_the_grading_desk(world: JudgeWorld, practice_at: Open) -> None:
    task = make_judging_task(world.campaign, world.people["ann"], GRADE)
    page = practice_at(task, "practice/")
    expect(page.locator("#answer-head")).to_have_text("Passage 1 of 2")
    expect(page.locator("#answer-text")).to_contain_text("text of g1")
    expect(page.locator("#passages")).to_contain_text("statement g1")
    expect(page.locator(".desk-topic")).to_have_text("Practice question of g1")
    page.keyboard.press("3")
    assert known(page).endswith("as yours because of g1")
    page.keyboard.press("]")
    page.keyboard.press("2")
    assert known(page) == "Known label: 0 Irrelevant, other than yours because of g2"
    assert given() == [3, 2]
    assert axe(page) == []
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Start").or_(page.get_by_role("link", name="Start")).first.click()
    expect(page.locator("#answer-head")).to_contain_text("Passage 1 of")


def test_verdicts_are_practised_by_the_keys_of_battles(world: JudgeWorld, practice_at: Open) -> None:
    draw_battles(campaign=world.campaign, order=BattleOrder())
    task = make_judging_task(world.campaign, world.people["ann"], BATTLE)
    page = practice_at(task, "practice/")
    expect(page.locator("#answer-head")).to_have_text("Battle 1 of 2")
    expect(page.get_by_role("region", name="Answer on the left")).to_contain_text("text of b1")
    expect(page.get_by_role("region", name="Answer on the right")).to_contain_text("statement b1")
    expect(page.locator(".desk-topic")).to_have_text("Practice question of b1")
    expect(page.locator(".known-label:visible")).to_have_count(0)
    page.keyboard.press("1")
    assert known(page) == "Known label: ◀ Left better, as yours because of b1"
    page.keyboard.press("a")
    expect(page.locator(".reasons [aria-pressed=true]:visible")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#answer-head")).to_have_text("Battle 2 of 2")
    expect(page.get_by_role("region", name="Answer on the left")).to_contain_text("text of b2")
    page.keyboard.press("=")
    assert known(page).endswith("Both bad, other than yours because of b2")
    assert given() == [2, 1]
    assert axe(page) == []
    page.keyboard.press("Enter")
    page.get_by_text("You have practised: 1 of 2 as known").wait_for()
    page.get_by_role("button", name="Start").or_(page.get_by_role("link", name="Start")).first.click()
    expect(page.locator("#answer-head")).to_contain_text("Battle 1 of")


def test_on_a_phone_the_known_label_comes_into_view(world: JudgeWorld, practice_at: Open, tmp_path: Path) -> None:
    more = [item("assign", f"p{n}", "support", question="q", text="t", explanation="why " * 60) for n in range(9)]
    load_practice(world.campaign, tmp_path, more, replace=True)
    page = practice_at(world.assign, "practice/")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Judge", exact=True).click()
    page.locator("#label-rows > .row:visible").nth(4).focus()
    page.keyboard.press("j")
    page.keyboard.press("1")
    known(page)
    page.wait_for_function(IS_ABOVE_THE_LINE, timeout=CALM)


def test_a_label_is_undone_and_done_again(world: JudgeWorld, practice_at: Open) -> None:
    page = practice_at(world.assign, "practice/")
    page.keyboard.press("3")
    known(page)
    page.keyboard.press("Control+z")
    expect(page.locator("#progress")).to_contain_text("0 of 3 judged")
    expect(page.locator(".known-label:visible")).to_have_count(0)
    page.keyboard.press("Control+Shift+Z")
    expect(page.locator("#progress")).to_contain_text("1 of 3 judged")
    known(page)
    page.keyboard.press("1")
    expect(page.locator(".row.is-current .known-label")).to_contain_text("as yours")
    assert given() == [0]


def test_without_a_network_labels_wait_and_nothing_is_told(world: JudgeWorld, practice_at: Open) -> None:
    page = practice_at(world.assign, "practice/")
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator("#line [data-notice=save]")).to_contain_text("1 label waits", timeout=CALM)
    expect(page.locator(".known-label:visible")).to_have_count(0)
    page.context.set_offline(False)
    assert known(page) == "Known label: ● Support, as yours because of a1"
    assert given() == [2]


def test_the_known_label_is_said_to_screen_readers(world: JudgeWorld, practice_at: Open) -> None:
    page = practice_at(world.assign, "practice/")
    page.keyboard.press("2")
    expect(page.locator("#status")).to_contain_text(
        "N1: known label support, other than yours. because of a1", timeout=CALM
    )


def test_practice_is_accessible_on_a_screen_and_a_phone_in_light_and_dark(
    world: JudgeWorld, practice_at: Open
) -> None:
    found = []
    for task in (world.assign, world.scratch, world.shown):
        page = practice_at(task, "practice/")
        url = page.url
        found += problems_on(page, url)
        practise(task, task.assessor, wrong=1)
        found += problems_on(page, url)  # with what is known
        found += problems_on(page, f"{url}?again")
    page = practice_at(world.assign, "")
    found += problems_on(page, page.url)
    assert found == []


def test_the_page_of_practice_is_accessible_to_organizers(
    world: JudgeWorld, chromium: Browser, live_server: LiveServer
) -> None:
    context = signed_in(chromium, live_server, world.client("olga"))
    assert problems_on(context.new_page(), reverse("organizer:practice", args=["river"])) == []
    context.close()
