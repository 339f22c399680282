"""A task that is taken back under the hands: the desk says who and why, keeps what was unsent, and lets go."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from accounts.closing import close_account
from accounts.models import User
from evaluation.models import Task
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from evaluation.tasks.hand_out import reassign
from tests.assessor.desk_client import Window
from tests.browser.saving.desk_script import BAR, LEASE, desk, reword, until, wordings
from tests.worlds.desk import DeskWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def take_back(world: DeskWorld, *, handed_on: bool = False) -> None:
    task, olga = world.post_edit.public_id, world.people["olga"]
    if handed_on:
        reassign(campaign=world.campaign, task=task, assessor="ben", reason="Ann is away", actor=olga)
    else:
        order = TaskChange(Change.WITHDRAW, (task,), "The topic is dropped")
        change_tasks(campaign=world.campaign, order=order, actor=olga)


@pytest.mark.walk
@pytest.mark.parametrize("handed_on", [False, True])
def test_the_desk_of_a_task_taken_back_stops_and_lets_go(
    page: Page, world: DeskWorld, window: Window, *, handed_on: bool
) -> None:
    take_back(world, handed_on=handed_on)
    reword(page, "d1", "typed too late")
    bar = page.locator(BAR)
    expect(bar).to_contain_text(f"{world.people['olga'].name} took this task back on ")
    expect(bar).to_contain_text("Ann is away" if handed_on else "The topic is dropped")
    expect(bar).to_contain_text("What was saved is kept. Nothing more can be saved here.")
    expect(bar).to_contain_text("1 change could not be applied and is set aside.")
    expect(bar).not_to_contain_text("Trying again")
    expect(page.locator(LEASE)).to_be_hidden()
    assert desk(page, "desk.isReadonly")
    assert desk(page, "desk.save.state().unsent") == 0
    bar.get_by_role("button", name="Show them").click()
    expect(page.locator("#unsent")).to_contain_text("typed too late")
    page.locator("#unsent").get_by_role("button", name="Close").click()
    page.get_by_role("link", name="Leave").first.click()
    expect(page.get_by_role("heading", name="Taken back")).to_be_visible()
    assert wordings() == []

    page.get_by_role("link", name="why rivers bend").click()
    with page.expect_download() as copy:
        page.get_by_role("button", name="Download a copy").click()
    assert "typed too late" in Path(copy.value.path()).read_text(encoding="utf-8")


def test_a_desk_at_rest_hears_it_from_its_heartbeat(page: Page, world: DeskWorld) -> None:
    take_back(world)
    desk(page, "desk.clock.beat()")
    expect(page.locator(BAR)).to_contain_text("took this task back")
    expect(page.locator("#submit-why")).to_have_text("This task was taken back.")


def test_a_task_whose_campaign_is_gone_ends_its_desk_too(page: Page, world: DeskWorld) -> None:
    Task.objects.filter(pk=world.post_edit.pk).update(public_id="anotherOne123")
    reword(page, "d1", "typed too late")
    expect(page.locator(BAR)).to_contain_text("This task is not on the server any more.")
    assert desk(page, "desk.save.setAside().length") == 1


def test_a_missing_part_of_the_task_does_not_end_its_desk(page: Page) -> None:
    desk(page, "desk.session.get('answers/nothing/')")
    reword(page, "d1", "saved")
    until(page, "desk.save.state().unsent === 0")
    assert wordings() == ["saved"]


def test_whose_account_is_closed_is_told_so_and_offered_the_copy(page: Page) -> None:
    close_account(User.objects.get(username="ann"))
    reword(page, "d1", "typed too late")
    dialog = page.locator("#sign-in")
    dialog.get_by_label("Password").fill("ann")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text(
        "This account is closed. Nobody can sign in with it. Ask an administrator."
    )
    with page.expect_download() as copy:
        dialog.get_by_role("button", name="Download a copy of what is unsent").click()
    assert "typed too late" in Path(copy.value.path()).read_text(encoding="utf-8")
