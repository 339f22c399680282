"""Check 46: nugget labels and citation labels share words, so whatever shows labels names which of the two it shows."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from exchange.demo_campaign import PASSWORD, SLUG
from reports.registry import pages
from tests.browser.pages.every_page import arguments
from tests.crawl.test_permissions import every_address, filled
from tests.worlds.demo import make_demo
from tests.worlds.judging_desk import make_judge_world

LABEL_WORDS = re.compile(
    r"\b(partial support|not support|full support|no support|opposite labels)\b", re.IGNORECASE
)
KINDS = ("nugget label", "citation label")
PARTS = {"table", "fieldset", "figure", "dl"}
WITHOUT_END = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
PAGES = {
    "correlation of citations": "?x=llm&y=scratch",
    "confusion of citations": "?rows=llm&columns=scratch",
    "pairs": "?rows=E/A&columns=E/M&cell=differ",
    "pairs of citations": "?rows=llm&columns=scratch&cell=differ",
    "quality": "",
    **{name: f"?{page.example}" for name, page in pages().items()},
    "methods": "",
    "topic": "",
    "run": "",
    "answer_labels": "",
    "assignment_label": "",
    "support_label": "",
    "data": "",
    "protocol": "",
}


class Parts(HTMLParser):
    """Names of what shows labels: its nearest heading, caption, legend, terms and accessible names, with its words."""

    def __init__(self) -> None:
        super().__init__()
        self.heading, self.found = "", [("", "")]
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        spoken = " ".join(given.get(name) or "" for name in ("aria-label", "alt"))
        if tag in {"h1", "h2", "h3", "h4"}:
            self.heading = ""
        if tag in PARTS:
            self.found.append((self.heading, ""))
        if spoken.strip() and set(self._open) & PARTS:
            self._add(spoken)
        if tag not in WITHOUT_END:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if set(self._open) & {"h1", "h2", "h3", "h4"}:
            self.heading += data
        elif set(self._open) & PARTS and not set(self._open) & {"bdi", "script"}:
            self._add(data)

    def _add(self, text: str) -> None:
        heading, words = self.found[-1]
        self.found[-1] = (heading, f"{words} {text}")


SINGLE = ("topic", "run", "answer_labels", "assignment_label", "support_label")
"""Pages of one thing."""


def address_of(name: str) -> str:
    view = name.partition(" ")[0]
    if view in SINGLE:
        return filled(every_address()[f"organizer:{view}"], arguments(f"organizer:{view}")[0])
    room = "organizer" if view in {"quality", "data", "protocol"} else "reports"
    return reverse(f"{room}:{view}", args=[SLUG])


def nameless(page: str) -> list[tuple[str, str]]:
    parts = Parts()
    parts.feed(page)
    found = [(" ".join(heading.split()), " ".join(words.split())) for heading, words in parts.found]
    showing = [(heading, words) for heading, words in found if LABEL_WORDS.search(words)]
    return [
        (heading, words[:300])
        for heading, words in showing
        if sum(kind in f"{heading} {words}".lower() for kind in KINDS) != 1
    ]


@pytest.mark.django_db
def test_check_46_what_shows_labels_names_which() -> None:
    make_demo()
    client = Client()
    assert client.login(username="olga", password=PASSWORD)
    found = {}
    for name, query in PAGES.items():
        response = client.get(address_of(name) + query)
        assert response.status_code == 200, name
        if without := nameless(response.content.decode()):
            found[name] = without
    assert not found
    for name, kinds in (("topic", KINDS), ("run", KINDS), ("answer_labels", KINDS)):
        page = client.get(address_of(name)).content.decode()
        assert all(f">{kind}" in page.lower() or f"{kind}s" in page.lower() for kind in kinds), name


@pytest.mark.django_db
def test_check_46_labels_at_the_desks_have_their_kind_as_name(tmp_path: Path) -> None:
    world = make_judge_world(tmp_path)
    tasks = (
        (world.assign, "ann", "Nugget label"),
        (world.scratch, "ben", "Citation label"),
        (world.shown, "ann", "Citation label"),
    )
    for task, name, kind in tasks:
        world.client(name).post(reverse("assessor:start", args=[task.public_id]), follow=True)
        page = world.client(name).get(reverse("assessor:task", args=[task.public_id])).content.decode()
        named = re.findall(
            r'<ol id="label-rows"[^>]*aria-label="([^"]*)"|class="visually-hidden">([^<]*)</legend>', page
        )
        names = ["".join(found) for found in named if "".join(found)]
        assert names, task.stage
        assert all(text.startswith(kind) for text in names), (task.stage, names)
