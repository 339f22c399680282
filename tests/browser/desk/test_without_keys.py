"""Acceptance checks 39 and 40: a topic without a single key, by pointer and by Tab and Enter; states that are told
apart without colour; names that contain what is seen; nothing that only a drag, a hover or two keys at once can do.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from accounts.desk_settings import DeskSettings, save_desk_settings
from evaluation.terms import TaskState
from tests.architecture.tree import ROOT
from tests.browser.desk.test_shell_focus import UNNAMED
from tests.browser.nugget_desk import CALM, NuggetDesk, desk_of
from tests.worlds.desk import DeskWorld, draft_of, make_desk_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

# What needs two keys at once by default, and the button that does the same.
CHORDS = {
    "merge": "#rows [data-do=merge]",
    "weight": "#rows .weight input",
    "weight-up": "#rows .weight [data-step=up]",
    "move-up": "#rows [data-do=up]",
    "move-down": "#rows [data-do=down]",
    "search-previous": "#passages [data-do=hit-previous]",
    "undo": "[data-act=undo]",
    "redo": "[data-act=redo]",
    "save": "#actions [data-act=leave]",
    "submit": "[data-act=submit]",
}
GREY = """(e) => { const s = getComputedStyle(e); return [s.borderStyle, s.borderWidth, s.outlineStyle,
  s.textDecorationLine, s.fontWeight, e.innerText].join() }"""


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Six passages, and seven proposals; Ann has switched single keys off."""
    made = make_desk_world(tmp_path, drafts=7)
    save_desk_settings(made.people["ann"], DeskSettings(single_keys=False))
    return made


@pytest.fixture
def ann(world: DeskWorld, chromium: Browser, live_server: LiveServer) -> Iterator[NuggetDesk]:
    with desk_of(chromium, live_server, world, world.post_edit) as desk:
        yield desk
        assert desk.console_errors == []


def row(page: Page, name: str) -> Locator:
    return page.locator("#nugget-rows > .row", has=page.get_by_role("heading", name=name, exact=True))


def click(ann: NuggetDesk, name: str, *acts: str) -> None:
    """Click a row, then what it offers: an importance, or the buttons of acts. Its number follows it."""
    key = row(ann.page, name).get_attribute("id")
    for act in acts:
        ann.page.locator(f"#{key} .row-text").click()
        ann.page.locator(f"#{key}").locator(f".is-{act}, [data-do={act}]").first.click()


def test_a_whole_topic_by_pointer_alone(ann: NuggetDesk) -> None:
    page = ann.page
    click(ann, "N1", "vital")
    click(ann, "N2", "edit")
    row(page, "N2").locator("textarea").fill("reworded")
    click(ann, "N3", "reject")
    click(ann, "N4", "mark")
    click(ann, "N5", "mark")
    page.locator("#rows [data-do=merge]").click()
    page.locator(".composer textarea").fill("four and five")
    page.locator(".composer .go").click()
    click(ann, "N8", "up", "down", "down", "up", "split")
    for field, text in zip(page.locator(".composer textarea").all(), ("four", "five"), strict=True):
        field.fill(text)
    page.locator(".composer .go").click()
    page.locator("#rows [data-do=new]").click()
    page.locator(".composer textarea").fill("my own")
    page.locator(".composer .go").click()
    click(ann, "N11", "link")
    row(page, "N11").get_by_role("textbox", name="Link to").fill("P1 S2")
    row(page, "N11").locator("[data-do=link-typed]").click()
    row(page, "N11").get_by_role("button", name="P1 S2", exact=False).first.click()
    expect(page.locator(".passage[data-number='1'] [data-sentence='1']")).to_be_focused()
    page.locator(".read-bar [data-do=back]").click()
    page.locator(".passage-done").first.click()
    page.locator("[data-act=undo]").click()
    page.locator("[data-act=redo]").click()
    for name in ("N6", "N7"):
        click(ann, name, "keep")
    for name in ("N2", "N6", "N7", "N9", "N10", "N11"):
        click(ann, name, "okay")
    ann.saved()
    assert ann.texts("kept") == [draft_of(1), "reworded", "four", "five", draft_of(6), draft_of(7), "my own"]
    finish_by_pointer(ann)


def finish_by_pointer(ann: NuggetDesk) -> None:
    ann.page.get_by_role("button", name="Submit topic").click()
    ann.page.get_by_role("button", name="Yes, submit").click()
    expect(ann.page.locator("body[data-submitted][data-ready]")).to_be_attached(timeout=CALM)
    ann.task.refresh_from_db()
    assert ann.task.state == TaskState.SUBMITTED


def test_a_whole_topic_by_tab_space_and_enter(ann: NuggetDesk) -> None:
    for number in range(1, 8):
        ann.tab_to(".row:focus-within .is-vital input")
        ann.press("Space")
        ann.is_on(f"N{min(number + 1, 7)}")
    ann.saved()
    assert [(nugget.decision, nugget.importance) for nugget in ann.stored()] == [("kept", 2)] * 7
    ann.tab_to("[data-act=submit]")
    ann.press("Enter")
    expect(ann.page.get_by_role("heading", name="Have you completed this topic?")).to_be_focused(timeout=CALM)
    ann.tab_to("dialog [data-do=submit]")
    ann.press("Enter")
    expect(ann.page.locator("body[data-submitted][data-ready]")).to_be_attached(timeout=CALM)


def show_every_state(ann: NuggetDesk) -> None:
    page = ann.page
    click(ann, "N1", "vital", "link")
    row(page, "N1").get_by_role("textbox", name="Link to").fill("P1 S2")
    row(page, "N1").locator("[data-do=link-typed]").click()
    click(ann, "N2", "okay")
    click(ann, "N3", "reject")
    click(ann, "N4", "mark")
    page.locator(".passage-done").nth(1).click()
    page.get_by_role("button", name="All 6").focus()
    row(page, "N1").focus()


def looks(page: Page) -> dict[str, list[Any]]:
    """Groups of things that must look unlike each other, as lines, shapes and words, without their colours."""
    pairs = {
        "importance": [".row:has(h3:text-is('N1')) .is-vital", ".row:has(h3:text-is('N2')) .is-vital"],
        "vital and okay": [".row:has(h3:text-is('N1')) .is-vital", ".row:has(h3:text-is('N2')) .is-okay"],
        "decision": [".row:has(h3:text-is('N1')) .row-tags", ".row:has(h3:text-is('N5')) .row-tags"],
        "marked": [".row:has(h3:text-is('N4'))", ".row:has(h3:text-is('N5'))"],
        "evidence": ["[data-number='1'] [data-sentence='1']", "[data-number='1'] [data-sentence='0']"],
        "filter": ["[data-filter=all]", "[data-filter=unread]"],
        "tick": [".strip i:nth-child(1)", ".strip i:nth-child(2)", ".strip i:nth-child(3)"],
        "passage": ["[data-number='2'] .passage-state", "[data-number='3'] .passage-state"],
    }
    return {
        name: [page.locator(selector).first.evaluate(GREY) for selector in group] for name, group in pairs.items()
    }


def test_states_are_told_apart_without_colour(ann: NuggetDesk) -> None:
    show_every_state(ann)
    for forced in ("none", "active"):
        ann.page.emulate_media(forced_colors="active" if forced == "active" else "none")
        found = looks(ann.page)
        assert {name: group for name, group in found.items() if len(set(group)) < len(group)} == {}, forced
        assert "3px" in row(ann.page, "N1").evaluate("(e) => getComputedStyle(e).outlineWidth")
    ann.page.emulate_media(forced_colors="none")
    session = ann.page.context.new_cdp_session(ann.page)
    session.send("Emulation.setEmulatedVisionDeficiency", {"type": "achromatopsia"})
    vital, okay = (row(ann.page, name).locator(".importance").screenshot() for name in ("N1", "N2"))
    assert vital != okay


def test_every_name_contains_what_is_seen_in_every_open_state(ann: NuggetDesk) -> None:
    page = ann.page
    show_every_state(ann)
    page.get_by_role("button", name="Submit topic").click()
    page.locator("#submit-problems").wait_for()
    click(ann, "N5", "mark")
    page.locator("#rows [data-do=merge]").click()
    click(ann, "N2", "edit")
    click(ann, "N1", "link")
    page.locator("#rejected > summary").click()
    page.locator(".passage .s").first.click()
    assert page.evaluate(UNNAMED) == []
    for act in ("keys", "flag", "comment", "guidelines", "define"):
        page.locator(f"[data-act={act}]").first.click()
        assert page.evaluate(UNNAMED) == [], act
        page.keyboard.press("Escape")


def test_no_act_needs_a_drag_a_hover_or_two_keys_at_once(ann: NuggetDesk) -> None:
    click(ann, "N1", "weight")
    row(ann.page, "N1").locator("[data-step=up]").click()
    row(ann.page, "N1").focus()
    ann.announces("N1 weighs 1")
    for selector in chords_and_buttons().values():
        assert ann.page.locator(selector).first.is_visible(), selector
    line = ann.page.get_by_role("separator", name="Resize panes")
    shares = []
    for _ in range(3):
        line.click()
        shares.append(line.get_attribute("aria-valuenow"))
    assert shares == ["70", "40", "57"]


def chords_and_buttons() -> dict[str, str]:
    """Every action that by default has only keys pressed together, and its button.

    Left out are shortcuts of an open form, which asks for the importance and has a button for each text.
    """
    keymap = json.loads((ROOT / "static/js/desk/keymap.json").read_text(encoding="utf-8"))
    acts = [
        action
        for action in keymap["actions"]
        if not {"judging", "support"} & {*action.get("stages", ())}
        and action["where"] not in (["composer"], ["merge"])
    ]
    chorded = {action["id"] for action in acts if action.get("keys") and all("+" in key for key in action["keys"])}
    assert chorded <= CHORDS.keys(), chorded - CHORDS.keys()
    return {name: CHORDS[name] for name in chorded}
