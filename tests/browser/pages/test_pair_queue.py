"""Pairs of labels judged one after the other by keys, in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from evaluation.formats.source import Source
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.topics import import_topics
from evaluation.models import Assignment
from evaluation.terms import JudgeKind, Origin
from reports.models import Adjudication
from tests.browser.pages.test_axe import SIZES, problems_on, sign_in
from tests.browser.shifts import held_back, let_go
from tests.worlds.cast import make_campaign, make_cast, write_source

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
QUEUE = reverse("reports:next_pair", args=["river"]) + "?rows=E/A&columns=E/M&cell=differ"
WORK, HAND_OUT = (reverse(f"organizer:{name}", args=["river"]) for name in ("work", "hand_out"))
PAIRS, WORDS = 15, ("not_support", "partial_support", "support")


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer, tmp_path: Path) -> Iterator[Page]:
    """An organizer's page; an LLM and a person differ on fifteen pairs."""
    campaign = make_campaign()
    make_cast(campaign)

    def source(name: str, row: object) -> Source:
        return write_source(tmp_path, name, json.dumps(row) + "\n")

    import_topics(campaign=campaign, source=source("t.jsonl", {"id": "t1", "title": "why rivers bend"}))
    sentences = [{"text": "Sand moves along the river bed.", "citations": []}]
    answer = {"run_id": "alpha", "topic_id": "t1", "references": [], "answer": sentences}
    import_runs(campaign=campaign, sources=[source("r.jsonl", answer)], options=RunOptions(group="alpha"))
    nuggets = [{"text": f"the river moves sand {n}", "importance": "vital"} for n in range(PAIRS)]
    listed = source("n.jsonl", {"qid": "t1", "nuggets": nuggets})
    import_nuggets(campaign=campaign, source=listed, origin=Origin.EDITED, judge="ann", name="edited")
    for judge, kind, shift in (("robot", JudgeKind.LLM, 1), ("ann", JudgeKind.HUMAN, 0)):
        given = [
            {"text": nugget["text"], "assignment": WORDS[(n + shift) % 3]} for n, nugget in enumerate(nuggets)
        ]
        labels = source(f"{judge}.jsonl", {"qid": "t1", "run_id": "alpha", "nuggets": given})
        import_assignments(campaign=campaign, sources=[labels], judge=judge, kind=kind, origin=Origin.EDITED)
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES["desk"])
    page = context.new_page()
    sign_in(page, "olga")
    yield page
    context.close()


def at_pair(page: Page, number: int, still_open: int) -> None:
    expect(page.get_by_text(f"pair {number} of {PAIRS}, {still_open} without a verdict")).to_be_visible()
    expect(page.locator("body[data-ready]")).to_be_attached()


def test_fifteen_verdicts_take_fifteen_keys(page: Page) -> None:
    """Check 83: a reload resumes, and no label changes."""
    before = list(Assignment.objects.order_by("pk").values_list("pk", "label"))
    page.goto(QUEUE)
    for number in range(1, PAIRS + 1):
        at_pair(page, number, PAIRS - number + 1)
        if number == 7:
            page.reload()
            at_pair(page, 7, 9)
            page.goto(QUEUE)
            at_pair(page, 7, 9)
        page.keyboard.press("1234"[number % 4])
    expect(page.get_by_text("Every pair here has a verdict: 15 of 15.")).to_be_visible()
    assert Adjudication.objects.count() == PAIRS
    assert {row.verdict for row in Adjudication.objects.all()} == {0, 1, 2, 7}
    assert list(Assignment.objects.order_by("pk").values_list("pk", "label")) == before


def test_words_in_common_are_marked_in_both_texts(page: Page) -> None:
    page.goto(QUEUE)
    expect(page.locator("[data-words] mark")).to_have_text(["river", "moves", "sand"])
    expect(page.locator("[data-words-in] mark")).to_have_text(["Sand", "moves", "river"])


def test_note_next_and_taking_back_have_their_keys(page: Page) -> None:
    page.goto(QUEUE)
    page.keyboard.press("c")
    expect(page.get_by_label("Note", exact=True)).to_be_focused()
    page.keyboard.type("1 u c")
    expect(page.get_by_label("Note", exact=True)).to_have_value("1 u c")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    at_pair(page, 2, 14)
    assert Adjudication.objects.get().note == "1 u c"
    page.keyboard.press("u")
    at_pair(page, 3, 14)
    page.keyboard.press("Control+z")
    at_pair(page, 1, 15)
    expect(page.get_by_text("The verdict on this pair is taken back.")).to_be_visible()


@pytest.mark.parametrize(("script", "address"), [("pair-queue", QUEUE), ("work", WORK), ("forms", HAND_OUT)])
def test_until_its_script_runs_a_page_says_that_keys_do_nothing(page: Page, script: str, address: str) -> None:
    scripts = f"**/js/{script}*.js"
    held = held_back(page, scripts)
    page.goto(address, wait_until="commit")
    words = page.get_by_text("The page is loading, and keys do nothing yet.")
    expect(words).to_be_visible()
    let_go(page, scripts, held)
    expect(words).to_be_hidden()


def test_single_keys_switched_off_press_nothing(page: Page) -> None:
    User.objects.filter(username="olga").update(desk_settings={"single_keys": False})
    page.goto(QUEUE)
    expect(page.locator("kbd", has_text=re.compile("^1$"))).to_have_count(0)
    page.keyboard.press("1")
    at_pair(page, 1, 15)
    page.get_by_role("button", name="First right").click()
    at_pair(page, 2, 14)


def test_a_pair_is_accessible(page: Page) -> None:
    assert problems_on(page, QUEUE) == []
