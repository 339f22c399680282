"""Menu, palette and glossary: by role, and nothing in them that a role may not see."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from tests.worlds.blind import make_blind_world
from tests.worlds.campaign import World
from web.words import terms

WORDS = (
    "Automatic nuggets, automatic labels",
    "Edited nuggets, automatic labels",
    "Edited nuggets, manual labels",
    "Manual nuggets, automatic labels",
    "Manual nuggets, manual labels",
    "Automatic nuggets, manual labels",
    "condition",
    "edited nuggets",
    "manual nuggets",
    "Edit drafts",
    "Write nuggets",
    "Label answers",
    "nugget label",
    "citation label",
    "run",
    "topic",
    "Judge citations, unaided",
    "Judge citations, machine label shown",
    "Citation labels by LLM",
    "draft",
    "vital",
    "okay",
    "Support",
    "Partial support",
    "Not support",
    "Full support",
    "No support",
    "citation support",
    "passage",
    "full RAG",
    "generation only",
    "control run",
    "Vital, strict",
    "Vital",
    "Weighted, strict",
    "Weighted",
    "All, strict",
    "All",
    "citation precision",
    "citation recall",
    "rank agreement",
    "over run means",
    "mean over topics",
    "over all topic-run pairs",
    "strictness",
    "opposite labels",
    "judged twice",
    "second look",
    "consistency check",
    "judge",
    "connection",
    "job",
    "estimate",
    "protocol",
    "warnings about the data",
    "discarded",
    "snapshot",
    "group report",
)


def found(client: Client, words: str, path: str = "/campaigns/river/find/") -> dict[str, list[str]]:
    groups = client.get(path, {"words": words}).json()["groups"]
    return {group["caption"]: [hit["text"] for hit in group["hits"]] for group in groups}


@pytest.mark.parametrize("name", ["ann", "olga", "rita", "audrey"])
def test_every_role_reads_the_whole_glossary(world: World, name: str) -> None:
    """Check 45: every word of the pages with its definition, and its code where files have another word."""
    page = world.client(name).get("/glossary/").content.decode()
    assert not [word for word in WORDS if not re.search(rf"<dt>{re.escape(word)}(?: <span|</dt>)", page)]
    for term in terms().values():
        line = page.partition(f"<dt>{escape(term.word)}")[2].partition("</dd>")[0]
        assert escape(term.definition) in line
        assert term.code in line


def test_the_glossary_is_filtered_by_words_and_codes(world: World) -> None:
    page = world.client("ann").get("/glossary/", {"words": "tau-b"}).content.decode()
    assert "<dt>rank agreement" in page
    assert "<dt>vital" not in page


@pytest.mark.django_db
class TestPalette:
    def test_words_are_found_by_their_beginnings(self, world: World) -> None:
        topic = world.campaign.topics.first()
        assert topic is not None
        assert found(world.client("olga"), topic.topic_id)["Topics"][0] == topic.topic_id
        assert "Leaderboard" in found(world.client("olga"), "lead")["Pages"]
        assert "Pages" not in found(world.client("olga"), "eaderboard")

    def test_acts_are_for_organizers(self, world: World) -> None:
        assert found(world.client("olga"), "start job")["Do"]
        for name in ("rita", "audrey"):
            assert "Do" not in found(world.client(name), "start job")

    def test_people_are_not_for_researchers(self, world: World) -> None:
        assert found(world.client("olga"), "ann")["People"]
        assert "People" not in found(world.client("rita"), "ann")

    def test_a_stranger_and_an_assessor_find_nothing(self, world: World) -> None:
        for name in ("ann", "sam"):
            assert world.client(name).get("/campaigns/river/find/", {"words": "a"}).status_code == 404


def test_an_assessor_s_palette_tells_no_secret(db: None, tmp_path: Path) -> None:
    """Check 50: no run, model or other person, whatever is typed."""
    desk, canaries = make_blind_world(tmp_path)
    address = reverse("assessor:find")
    for words in ("", "run", "gpt", "ben", "canary", *"abcdefghijklmnopqrstuvwxyz0123456789"):
        response = desk.client("ann").get(address, {"words": words})
        assert not canaries.leaks(response, "ann", address), words
    assert set(found(desk.client("ann"), "", address)) == {"Your tasks", "Pages", "Glossary"}


@pytest.mark.parametrize(
    ("name", "page", "there", "missing"),
    [
        ("rita", "methods", ("Data to take", "Leaderboard", "Methods", "Glossary"), ("Inbox", "People", "Jobs")),
        ("audrey", "protocol", ("Audit", "People", "Protocol", "Snapshots"), ("Inbox", "Leaderboard", "Jobs")),
    ],
)
def test_each_role_has_its_menu(
    world: World, name: str, page: str, there: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    """Check 52."""
    shown = world.client(name).get(f"/campaigns/river/{page}/").content.decode()
    menu = shown[shown.index('aria-label="Campaign"') : shown.index("</header>")]
    assert not [word for word in there if f">{word}</a>" not in menu]
    assert not [word for word in missing if f">{word}</a>" in menu]


@pytest.mark.parametrize(
    ("path", "menu_page"),
    [("jobs/new/", "Jobs"), ("work/hand-out/", "Work"), ("topics/", "Data"), ("studies/new/", "Second looks")],
)
def test_a_lower_page_names_the_page_above_it(world: World, path: str, menu_page: str) -> None:
    """Check 53."""
    page = world.client("olga").get(f"/campaigns/river/{path}").content.decode()
    crumbs = page[page.index('class="crumbs"') :]
    crumbs = crumbs[: crumbs.index("</nav>")]
    assert f">{menu_page}</a>" in crumbs
    assert "River study" in crumbs
