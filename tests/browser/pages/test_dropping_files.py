"""Files dropped on the import wizard: taken by the box, sent with the form, and never in the page's place."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.pages.test_axe import sign_in
from tests.worlds.campaign import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

TOPICS = "t8\thow deep rivers are\nt9\thow long rivers are\n"
# Returns whether the page said that it sees to the event itself: a file that no page sees to is opened in its place.
DROP = """([selector, files, words]) => {
  const given = new DataTransfer();
  for (const [name, text] of files) given.items.add(new File([text], name));
  if (words) given.setData("text/plain", words);
  const tell = (kind) => document.querySelector(selector).dispatchEvent(
    new DragEvent(kind, {dataTransfer: given, bubbles: true, cancelable: true}));
  return [tell("dragover"), tell("drop")].map((let_be) => !let_be);
}"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path, settings: Any) -> World:
    settings.FILES_DIR = tmp_path / "files"
    return make_world(tmp_path)


@pytest.fixture
def page(world: World, chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    context = chromium.new_context(base_url=live_server.url)
    made = context.new_page()
    sign_in(made, "olga")
    yield made
    context.close()


def drop(page: Page, selector: str, *files: tuple[str, str], words: str = "") -> list[bool]:
    """Drag files or words over an element and let them fall."""
    taken: list[bool] = page.evaluate(DROP, [selector, files, words])
    return taken


def names(page: Page) -> list[str]:
    found: list[str] = page.locator("input[type=file]").evaluate(
        "(one) => [...one.files].map((file) => file.name)"
    )
    return found


def test_a_dropped_file_is_listed_tried_out_and_loaded(page: Page) -> None:
    page.goto("/campaigns/river/data/load/topics/")
    expect(page.get_by_text("Or drop it here.")).to_be_visible()
    assert drop(page, "[data-drop]", ("deep.tsv", TOPICS), ("other.tsv", TOPICS)) == [True, True]
    assert names(page) == ["deep.tsv"], "topics come in one file"
    expect(page.locator("[data-drop-list] li")).to_have_text(["deep.tsv, 46 bytes"])
    expect(page.locator("[data-drop]")).not_to_have_class("drop is-over")
    page.get_by_role("button", name="Try out").click()
    expect(page.get_by_text("Tried out. Nothing is loaded yet.")).to_be_visible()
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Loaded.")


def test_several_files_are_taken_where_several_may_come(page: Page) -> None:
    page.goto("/campaigns/river/data/load/runs/")
    drop(page, "[data-drop]", ("one.jsonl", "{}"), ("two.jsonl", "{}"))
    assert names(page) == ["one.jsonl", "two.jsonl"]


def test_a_file_beside_the_box_leaves_the_page_and_what_was_typed(page: Page) -> None:
    page.goto("/campaigns/river/data/load/qrels/")
    page.get_by_label("Who graded").fill("NIST")
    assert drop(page, "h1", ("qrels.txt", "t1 0 d1 1")) == [True, True]
    assert names(page) == []
    expect(page.get_by_label("Who graded")).to_have_value("NIST")


def test_words_that_are_dropped_do_not_take_the_chosen_file_away(page: Page) -> None:
    page.goto("/campaigns/river/data/load/topics/")
    drop(page, "[data-drop]", ("deep.tsv", TOPICS))
    assert drop(page, "[data-drop]", words="how deep") == [False, False]
    assert names(page) == ["deep.tsv"]


def test_without_a_script_the_input_alone_does(world: World, chromium: Browser, live_server: LiveServer) -> None:
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, "olga")
    page.goto("/campaigns/river/data/load/topics/")
    expect(page.get_by_text("Or drop it here.")).to_be_hidden()
    page.get_by_label("File").set_input_files(
        {"name": "a.tsv", "mimeType": "text/plain", "buffer": TOPICS.encode()}
    )
    page.get_by_role("button", name="Try out").click()
    expect(page.get_by_text("Tried out. Nothing is loaded yet.")).to_be_visible()
    context.close()
