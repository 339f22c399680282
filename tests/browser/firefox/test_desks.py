"""Keys of the four desks in Debian's Firefox: each does what the screen says, and the console stays silent."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Task
from tests.browser.firefox.bidi import Firefox
from tests.worlds.desk import make_desk_world
from tests.worlds.judging_desk import make_judge_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

NUGGETS = tuple((f"nugget number {number}", "vital") for number in range(1, 9))
DECISIONS = "[...document.querySelectorAll('#rows [data-keys~=row]')].map((row) => row.dataset.decision)"
LABELS = "[...document.querySelectorAll('#label-rows > .row')].map((row) => row.dataset.label)"
WEIGHTS = "[...document.querySelectorAll('#nugget-rows input:checked')].map((radio) => radio.value)"
PAIR = "document.querySelector('#pair-number').textContent.trim()"
LABEL = "document.querySelector('#pair').dataset.label"


@contextmanager
def at(firefox: Firefox, live_server: LiveServer, client: Client, task: Task) -> Iterator[None]:
    """A desk of the signed-in account; when it is left, everything is saved and no script complained."""
    client.post(f"/desk/{task.public_id}/start/")
    firefox.sign_in(client.cookies["sessionid"].value)
    firefox.goto(f"{live_server.url}/desk/{task.public_id}/")
    firefox.wait_for("'ready' in document.body.dataset")
    yield
    firefox.press("Control+s")
    firefox.wait_for(shows("Everything is saved"))
    assert firefox.complaints == []


def shows(text: str) -> str:
    """Expression that is true while the line of messages shows a text."""
    return f"document.querySelector('#line [data-text]').textContent.includes({json.dumps(text)})"


def becomes(firefox: Firefox, expression: str, *values: str) -> None:
    firefox.wait_for(f"{expression}.join().startsWith({json.dumps(','.join(values))})")


def has_focus(firefox: Firefox, selector: str) -> None:
    firefox.wait_for(f"document.activeElement.matches({json.dumps(selector)})")


def keys_are_text_in_the_search(firefox: Firefox) -> None:
    firefox.press("/")
    has_focus(firefox, "input[type=search]")
    firefox.press(*"123x0a")
    assert firefox.evaluate("document.activeElement.value") == "123x0a"
    firefox.press("Escape")


def test_edit_drafts(firefox: Firefox, live_server: LiveServer, tmp_path: Path) -> None:
    world = make_desk_world(tmp_path)
    with at(firefox, live_server, world.client(), world.post_edit):
        for key, decision, number in (("1", "kept", 1), ("2", "kept", 2), ("x", "rejected", 1), ("a", "kept", 3)):
            firefox.press(key)
            firefox.wait_for(f"{DECISIONS}.filter((one) => one === '{decision}').length === {number}")
        becomes(firefox, WEIGHTS, "2", "1")
        firefox.press("ArrowUp", "0")
        firefox.wait_for(f"{DECISIONS}.filter((one) => one === 'kept').length === 2")
        firefox.press("h")
        firefox.wait_for(shows("its words"))
        keys_are_text_in_the_search(firefox)


def test_write_nuggets(firefox: Firefox, live_server: LiveServer, tmp_path: Path) -> None:
    world = make_desk_world(tmp_path)
    with at(firefox, live_server, world.client(), world.manual):
        has_focus(firefox, ".composer textarea")
        for text, key in (("dams crack", "1"), ("dams leak", "2")):
            firefox.press(*text, "Enter")
            has_focus(firefox, ".composer-ask")
            firefox.press(key)
            has_focus(firefox, ".composer textarea")
        becomes(firefox, WEIGHTS, "2", "1")
        firefox.press("Escape", "w")
        has_focus(firefox, "#rows *")
        firefox.press("]", "w")
        has_focus(firefox, "#rows *")


def test_label_answers(firefox: Firefox, live_server: LiveServer, tmp_path: Path) -> None:
    world = make_judge_world(tmp_path, nuggets=NUGGETS)
    with at(firefox, live_server, world.client(), world.assign):
        firefox.press("1", "2", "3")
        becomes(firefox, LABELS, "support", "partial_support", "not_support", "")
        firefox.press("x")
        has_focus(firefox, ".row-box *")
        firefox.press("Escape", "ArrowUp", "0")
        becomes(firefox, LABELS, "support", "partial_support", "", "")
        firefox.press("]", "1")
        becomes(firefox, LABELS, "support", "")
        firefox.press("[")
        becomes(firefox, LABELS, "support", "partial_support", "")
        firefox.press("Control+Enter")
        firefox.wait_for("document.querySelector('.desk-question').checkVisibility()")
        firefox.press("Enter")
        has_focus(firefox, "#label-rows > .row")
        keys_are_text_in_the_search(firefox)


def test_judge_citations(firefox: Firefox, live_server: LiveServer, tmp_path: Path) -> None:
    world = make_judge_world(tmp_path)
    with at(firefox, live_server, world.client(), world.shown):
        labels = ("full_support", "partial_support", "no_support")
        for number, key in enumerate("123a", start=1):
            firefox.wait_for(f"{PAIR}.startsWith('Pair {number} of')")
            firefox.press(key)
            firefox.wait_for(f"{PAIR}.startsWith('Pair {number + 1} of')")
            firefox.press("k")
            firefox.wait_for(f"{LABEL} !== ''")
            if key != "a":
                assert firefox.evaluate(LABEL) == labels[number - 1]
            firefox.press("j")
        firefox.press("k", "0")
        firefox.wait_for(f"{LABEL} === ''")
        firefox.press("x")
        has_focus(firefox, ".row-box *")
        firefox.press("Escape")
        keys_are_text_in_the_search(firefox)
