"""A visit begins with its first answer and pair in the page; the first label key acts on it, or is told why not."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from assessor.models import Desk
from evaluation.models import Task, TaskAnswer
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.browser.nugget_desk import LAST_WORDS, signed_in
from tests.browser.shifts import (
    IN_THE_ROWS,
    SIZES,
    held_back,
    is_still,
    leave_open_elsewhere,
    shifts_while_starting,
)
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LOADING = "#line [data-loading]"
TEXTS = "#answer-head, #answer .sentence-text, #pair-number, #pair-name, #pair-sentence, .cited-title, .cited-text"
NO_FOCUS = "HTMLElement.prototype.focus = () => {}"


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer, world: JudgeWorld) -> Page:
    world.client("ann").post(f"/desk/{world.assign.public_id}/start/")
    return signed_in(chromium, live_server, world.client("ann")).new_page()


def let_go(page: Page, held: list[Route]) -> None:
    """Let the first request go on, which the browser may send only after what the test has seen."""
    for _ in range(250):
        if held:
            break
        page.wait_for_timeout(20)
    held[0].continue_()


def close(judge: JudgingDesk) -> None:
    judge.page.goto("about:blank")
    judge.page.wait_for_timeout(300)
    judge.page.context.close()


def test_until_the_scripts_run_the_desk_says_that_it_loads(world: JudgeWorld, page: Page) -> None:
    held = held_back(page, "**/judge/assigning*.js")
    ann = JudgingDesk(page, world.assign)
    page.goto(f"/desk/{world.assign.public_id}/")
    expect(page.locator(LOADING)).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator("#label-rows > .row")).to_have_count(0)
    let_go(page, held)
    ann.ready()
    expect(page.locator(LOADING)).to_be_hidden()
    ann.is_on("N1")
    ann.press("1")
    assert ann.checked() == ["support"]
    ann.saved()
    close(ann)


def test_until_an_answer_is_there_a_key_says_so(world: JudgeWorld, page: Page) -> None:
    held = held_back(page, "**/answers/*/")
    ann = JudgingDesk(page, world.assign)
    ann.open().is_on("N1")
    page.keyboard.press("]")
    ann.answer_is_shown(2)
    page.keyboard.press("1")
    expect(page.locator("#line [data-text]")).to_have_text("This answer is not loaded yet, so it cannot be judged")
    assert ann.checked() == []
    let_go(page, held)
    ann.press("1")
    assert ann.checked() == ["support"]
    ann.saved()
    close(ann)


def test_a_page_that_was_given_no_focus_hears_the_first_key(world: JudgeWorld, page: Page) -> None:
    page.add_init_script(NO_FOCUS)
    ann = JudgingDesk(page, world.assign)
    ann.open()
    assert ann.focused("e === document.body")
    ann.press("1")
    assert ann.checked() == ["support"]
    ann.saved()
    close(ann)


def test_a_state_that_is_read_anew_leaves_the_focus_on_its_row(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.is_on("N1")
        ann.desk("desk.save.reload()")
        ann.is_on("N1")
        ann.press("ArrowDown", "1")
        ann.is_on("N3")
        assert ann.checked() == ["support"]


def test_taking_over_from_another_device_leaves_the_focus_on_its_row(
    world: JudgeWorld, visit: Visit, page: Page
) -> None:
    with visit(world.assign):
        ann = JudgingDesk(page, world.assign)
        ann.open()
        expect(page.locator("body[data-readonly]")).to_be_attached()
        ann.press("1")
        expect(page.locator("#line [data-text]")).to_have_text("Read-only: press u to use it here")
        ann.press("u")
        expect(page.locator("body[data-readonly]")).to_have_count(0)
        ann.is_on("N1")
        ann.press("1")
        assert ann.checked() == ["support"]
        ann.saved()
        close(ann)


def test_behind_an_answer_without_pairs_the_next_pair_comes(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.shown) as ann:
        first, second = ann.desk("desk.progress.answers.slice(0, 2).map(({ id }) => id)")
        ann.desk(f"desk.progress.keysByAnswer.set('{first}', [])")
        assert ann.desk(f"desk.progress.unlabelledAfter(null, '{first}') === desk.progress.keys('{second}')[0]")
        ann.desk(f"desk.answers.show('{first}')")
        ann.press("1")
        ann.announces("There is nothing to judge in this answer")
        ann.press("u")
        ann.answer_is(2)


def read_without_scripts(chromium: Browser, live_server: LiveServer, world: JudgeWorld, task: Task) -> list[str]:
    """What is to be read in a window in which no script of the desk arrives: an answer, and the pair that is asked."""
    client = world.client(task.assessor.username)
    client.post(f"/desk/{task.public_id}/start/")
    context = signed_in(chromium, live_server, client)
    page = context.new_page()
    page.route("**/static/js/**", lambda route: route.abort())
    page.goto(f"/desk/{task.public_id}/")
    expect(page.locator("#s-0")).to_be_visible()
    if task != world.assign:
        expect(page.locator(".cited-text")).to_be_visible()
    text = page.locator(TEXTS).all_text_contents()
    context.close()
    return text


@pytest.mark.parametrize("name", ["assign", "scratch", "shown"])
def test_the_first_answer_is_read_before_scripts_come(
    chromium: Browser, live_server: LiveServer, world: JudgeWorld, visit: Visit, name: str
) -> None:
    task = getattr(world, name)
    text = read_without_scripts(chromium, live_server, world, task)
    assert text[0].startswith("Answer 1 of")
    with visit(task) as judge:
        assert judge.page.locator(TEXTS).all_text_contents() == text


def test_the_answer_in_the_page_is_where_work_goes_on(
    chromium: Browser, live_server: LiveServer, world: JudgeWorld, visit: Visit
) -> None:
    with visit(world.assign) as ann:
        ann.press(*"1" * 16)
        ann.answer_is(2)
        ann.saved()
    assert "Answer 2 of 6" in read_without_scripts(chromium, live_server, world, world.assign)


def test_an_answer_that_no_script_showed_is_not_seen(
    chromium: Browser, live_server: LiveServer, world: JudgeWorld
) -> None:
    read_without_scripts(chromium, live_server, world, world.assign)
    assert not TaskAnswer.objects.filter(task=world.assign, seen_at__isnull=False).exists()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["assign", "scratch", "shown"])
def test_nothing_shifts_while_a_judging_desk_starts(
    world: JudgeWorld, chromium: Browser, live_server: LiveServer, name: str, size: str
) -> None:
    task = getattr(world, name)
    client = world.client(task.assessor.username)
    client.post(f"/desk/{task.public_id}/start/")
    width, height = SIZES[size]
    context = signed_in(chromium, live_server, client, viewport={"width": width, "height": height})
    page = context.new_page()
    for place in ({}, IN_THE_ROWS):
        Desk.objects.filter(task=task).update(place=place)
        is_still(shifts_while_starting(page, f"/desk/{task.public_id}/"))
    leave_open_elsewhere(task)
    is_still(shifts_while_starting(page, f"/desk/{task.public_id}/"))
    assert page.locator("body[data-readonly]").count() == 1
    page.goto("about:blank")
    page.wait_for_timeout(LAST_WORDS)
    context.close()


def without_desk(judge: JudgingDesk, place: dict[str, Any]) -> None:
    """Load the page anew; the server knows a place of the last visit, and the desk's script does not come."""
    judge.saved()
    judge.page.route("**/judge/main*.js", lambda route: route.abort())
    Desk.objects.filter(task=judge.task).update(place=place)
    judge.page.reload()


def test_who_comes_back_is_shown_no_other_pair(world: JudgeWorld, visit: Visit) -> None:
    """Check 12: the window knows its place before the server does."""
    with visit(world.scratch) as ben:
        ben.press("ArrowDown", "ArrowDown")
        here = ben.page.locator("#pair-number").inner_text()
        assert here.startswith("Pair 3 of")
        without_desk(ben, {})
        expect(ben.page.locator(".cited-text")).to_be_attached()
        expect(ben.page.locator(".cited-text")).to_be_hidden()
        ben.page.unroute_all()
        ben.reload()
        expect(ben.page.locator("#pair-number")).to_have_text(here)
        expect(ben.page.locator(".cited-text")).to_be_visible()


def test_who_comes_back_reads_on_at_once(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch) as ben:
        ben.press("ArrowDown", "ArrowDown")
        for part in ("#pair-sentence", "#answer .sentence-text", ".cited-text"):
            expect(ben.page.locator(part).first).to_be_visible()
        texts = ben.page.locator(TEXTS).all_text_contents()
        Desk.objects.filter(task=world.scratch).update(holder_page="left")
        without_desk(ben, ben.desk("desk.place()"))
        expect(ben.page.locator(".cited-text")).to_be_visible()
        assert ben.page.locator(TEXTS).all_text_contents() == texts
