"""Every word that a script writes comes from the word list of the page's language, and none is needed to work."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.assessor.judge_world import make_judge_world
from tests.assessor.world import make_desk_world
from tests.browser.brackets import outside, speak_in_brackets, watch, written
from tests.browser.hands import CALM, Hands, desk_of
from tests.browser.judge.judging import Judge, browser_of, judge_at

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

GAP_MS = 3000


@pytest.fixture
def brackets(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, and what their scripts say, in brackets."""
    speak_in_brackets(tmp_path / "locale", settings, monkeypatch)


def opened_anew(hands: Hands) -> None:
    """Load the desk again, watched, on a clock of the test's own: of what is said within three seconds one is heard."""
    watch(hands.page)
    hands.page.clock.install()
    hands.reload()


def do(hands: Hands, *steps: str | tuple[str, ...]) -> None:
    """Press keys, or type what stands after "type", and let what is said of each step be heard."""
    for step in steps:
        kind, *rest = (step,) if isinstance(step, str) else step
        if kind == "type":
            hands.type(rest[0])
        else:
            hands.press(kind, *rest)
        hands.page.clock.run_for(GAP_MS)


def lose_the_server(hands: Hands) -> None:
    """Work on while the server cannot save, look at what is unsent, and try again."""
    hands.page.route("**/ops/", lambda route: route.fulfill(status=503, body="no"))
    do(hands, "1", "2")
    expect(hands.page.locator("[data-notice=save]")).to_contain_text("503", timeout=CALM)
    hands.page.locator("[data-notice=save] [data-unsent]").press("Enter")
    do(hands, "Escape")
    hands.page.unroute("**/ops/")
    hands.page.locator("[data-act=try]").press("Enter")
    hands.saved()
    hands.page.clock.run_for(GAP_MS)


def said_in_brackets(page: Page, *typed: str, at_least: int) -> None:
    """The scripts wrote a good deal, and all of it in brackets, but for what was typed."""
    assert outside(page, *typed) == []
    assert len([text for text in written(page) if "⟦" in text]) > at_least


def test_the_nugget_desk_speaks_the_language_of_the_page(
    brackets: None, tmp_path: Path, chromium: Browser, live_server: LiveServer
) -> None:
    world = make_desk_world(tmp_path, drafts=7)
    with desk_of(chromium, live_server, world, world.post_edit) as ann:
        opened_anew(ann)
        do(
            ann,
            "1",
            "a",
            "1",
            "e",
            ("type", " and more"),
            "Escape",
            ("u", "x"),
            "Control+z",
            "Control+Shift+z",
            "d",
        )
        do(
            ann,
            ("u", "m"),
            ("ArrowDown", "m"),
            "Shift+M",
            ("Control+a", "Delete"),
            "Enter",
            ("type", "both"),
            "Enter",
        )
        do(ann, "s", ("Enter", "Enter"), "n", ("type", "mine"), "Enter", "Alt+ArrowUp", "l", ("type", "P99 S1"))
        do(ann, "Enter", "Control+a", ("type", "P2 S1"), "Enter", "g", "r", "Shift+ArrowDown", "Escape")
        do(
            ann,
            "/",
            ("type", "Passage 3"),
            "Enter",
            "Escape",
            "r",
            "Escape",
            "p",
            "p",
            "c",
            "Escape",
            "?",
            "Escape",
        )
        lose_the_server(ann)
        do(ann, "Control+s", "Control+Enter")
        expect(ann.page.locator("#submit-problems")).to_be_visible(timeout=CALM)
        do(ann, "u", "a")
        said_in_brackets(ann.page, at_least=60)
        assert ann.page.locator("#saved").inner_text().startswith("⟦Saved ")


def test_the_judging_desks_speak_the_language_of_the_page(
    brackets: None, tmp_path: Path, chromium: Browser, live_server: LiveServer
) -> None:
    world = make_judge_world(tmp_path)
    context = browser_of(chromium, live_server, world, "ann")
    with judge_at(context, world, world.assign) as ann:
        opened_anew(ann)
        assign(ann)
        said_in_brackets(ann.page, "in Latin", at_least=40)
    with judge_at(context, world, world.shown) as ann:
        opened_anew(ann)
        do(
            ann,
            "a",
            "k",
            "3",
            "x",
            "Enter",
            ("type", "in Latin"),
            "Enter",
            "Control+z",
            "Control+Shift+z",
            "]",
            "[",
        )
        do(ann, "/", ("type", "water"), "Enter", "Escape", "g", "u", "Control+Enter", "Control+Enter")
        said_in_brackets(ann.page, "in Latin", at_least=25)
    context.close()


def assign(ann: Judge) -> None:
    """Judge an answer with places, a reason and a search, look at the list of answers, and begin the sweep."""
    do(ann, "w", "1", "2", ("x", "Enter"), ("type", "in Latin"), "Enter", "k", "e", ("type", "99"), "Enter")
    do(ann, "Control+a", ("type", "2"), "Enter", "g", "Enter", "Control+z", "Control+Shift+z", "Control+Enter")
    do(ann, "Control+Enter", "/", ("type", "the"), "Enter", "Escape", "[", "[")
    ann.page.locator("#answer-list summary").press("Enter")
    ann.page.locator("#label-rows .row.is-current").focus()
    lose_the_server(ann)
    ann.label_all("support")
    ann.page.locator("[data-do=sweep]").press("Enter")
    do(ann, "]", "[", "j", "2", "0", "Control+z")


def test_a_desk_works_without_the_list_of_words(
    brackets: None, tmp_path: Path, chromium: Browser, live_server: LiveServer
) -> None:
    world = make_desk_world(tmp_path)
    with desk_of(chromium, live_server, world, world.post_edit) as ann:
        ann.page.route("**/words.js", lambda route: route.abort())
        ann.reload()
        ann.press("a")
        ann.said("N1 kept: 1 vital or 2 okay?")
        ann.saved()
        assert len(ann.stored("kept")) == 1
