"""What the server does not take is kept to read, and a downloaded copy can be loaded: the last resorts."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from assessor.models import WorkingNugget
from tests.assessor.desk_client import Window
from tests.browser.saving.desk_script import BAR, NewDevice, desk, drained, open_desk, reword, until, wordings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def test_a_downloaded_copy_is_loaded_elsewhere_without_doubling(
    page: Page, device: NewDevice, window: Window, tmp_path: Path
) -> None:
    page.context.set_offline(True)
    for text in ("one", "two"):
        reword(page, "d1", text)
    expect(page.locator(BAR)).to_contain_text("Not connected")
    with page.expect_download() as downloading:
        page.locator(BAR).get_by_role("button", name="Download a copy").click()
    copy = tmp_path / "copy.json"
    downloading.value.save_as(copy)

    other = open_desk(device(), window)
    other.get_by_role("button", name="Use it here").click()
    until(other, "!desk.lease.readonly")
    desk(other, "desk.unsent.open()")
    for _ in range(2):
        other.get_by_label("Load a downloaded copy").set_input_files(copy)
        drained(other)
    other.locator("#unsent").get_by_role("button", name="Close").click()
    assert wordings() == ["one", "two"]
    assert desk(other, "desk.store.row('d1').text") == "two"
    page.context.set_offline(False)
    drained(page)
    assert wordings() == ["one", "two"]


def test_a_refused_change_is_set_aside_and_the_rest_goes_on(page: Page) -> None:
    desk(page, "desk.store.do('edit', {key: 'd1', text: 'x'.repeat(3000)})")
    reword(page, "d2", "fine")
    drained(page)
    expect(page.locator(BAR)).to_contain_text("1 change could not be applied")
    assert wordings() == ["fine"]
    until(page, "desk.store.row('d1').text === 'draft fact number 1'")  # the desk reads anew what is saved
    reword(page, "d1", "shorter")
    drained(page)
    assert wordings() == ["fine", "shorter"]


def test_what_the_server_does_not_understand_is_found_among_the_rest(page: Page) -> None:
    desk(page, "desk.save.halt('test')")
    reword(page, "d1", "before")
    desk(page, "desk.store.do('edit', {key: 'd2', text: 'odd'}, {source: 'nonsense'})")
    reword(page, "d2", "after it")
    reword(page, "d3", "after")
    desk(page, "desk.save.release('test')")
    drained(page)
    assert wordings() == ["before", "after it", "after"]
    assert desk(page, "desk.save.setAside().map(({op}) => op.payload.text)") == ["odd"]


def test_what_hangs_on_a_refused_change_is_set_aside_with_it(page: Page) -> None:
    desk(page, "desk.save.halt('test')")
    desk(
        page,
        "desk.store.do('add', {key: 'mine', text: 'y'.repeat(3000), importance: 2, evidence: [], after: null})",
    )
    reword(page, "mine", "shorter by now")
    reword(page, "d1", "not about it")
    desk(page, "desk.save.release('test')")
    drained(page)
    assert wordings() == ["not about it"]
    assert desk(page, "desk.save.setAside().length") == 2
    page.locator(BAR).get_by_role("button", name="Show them").click()
    expect(page.locator("#unsent")).to_contain_text("shorter by now")
    assert WorkingNugget.objects.filter(key="mine").count() == 0


def test_copies_of_other_accounts_and_tasks_are_not_taken(page: Page, tmp_path: Path) -> None:
    good: dict[str, Any] = desk(page, "desk.save.copy()")
    desk(page, "desk.unsent.open()")
    for change, reason in (
        ({"user": "somebody"}, "another account"),
        ({"task": "other"}, "another task"),
        ({"format": "x"}, "not a downloaded copy"),
    ):
        copy = tmp_path / "copy.json"
        copy.write_text(json.dumps(good | change))
        page.get_by_label("Load a downloaded copy").set_input_files(copy)
        expect(page.locator("#unsent")).to_contain_text(reason)
    assert wordings() == []
