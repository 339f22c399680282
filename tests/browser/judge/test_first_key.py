"""The first label key of a visit labels the highlighted row, or the screen says why it does not."""

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.browser.nugget_desk import signed_in
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

LOADING = "#line [data-loading]"
NO_FOCUS = "HTMLElement.prototype.focus = () => {}"


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer, world: JudgeWorld) -> Page:
    """A page of Ann's browser, whose task is started and not opened."""
    world.client("ann").post(f"/desk/{world.assign.public_id}/start/")
    return signed_in(chromium, live_server, world.client("ann")).new_page()


def held_back(page: Page, address: str) -> list[Route]:
    """Hold requests back until somebody lets them go on."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(address, hold)
    return held


def close(judge: JudgingDesk) -> None:
    """Leave the desk; what it sends on its way out is waited for."""
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
    held[0].continue_()
    ann.ready()
    expect(page.locator(LOADING)).to_be_hidden()
    ann.is_on("N1")
    ann.press("1")
    assert ann.checked() == ["support"]
    ann.saved()
    close(ann)


def test_until_the_first_answer_is_there_a_key_says_so(world: JudgeWorld, page: Page) -> None:
    held = held_back(page, "**/answers/*/")
    ann = JudgingDesk(page, world.assign)
    ann.open().is_on("N1")
    page.keyboard.press("1")
    expect(page.locator("#line [data-text]")).to_have_text("This answer is not loaded yet, so it cannot be judged")
    assert ann.checked() == []
    held[0].continue_()
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
