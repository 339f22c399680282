"""A page that lacks data says how to load it, to whoever may load it; others read who does."""

import html
import re

import pytest

from evaluation.campaigns.create import add_member
from evaluation.terms import Role
from tests.worlds.campaign import World
from tests.worlds.cast import make_campaign

PAGES = ("work/", "runs/", "topics/", "leaderboard/", "practice/")


def main_of(world: World, name: str, page: str) -> str:
    answer = world.client(name).get(f"/campaigns/empty/{page}", follow=True)
    assert answer.status_code == 200
    main = re.search(r"<main.*</main>", answer.content.decode(), re.DOTALL)
    assert main
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main[0])).split())


@pytest.fixture
def world(world: World) -> World:
    empty = make_campaign("empty")
    for name, role in (("olga", Role.ORGANIZER), ("rita", Role.RESEARCHER), ("audrey", Role.AUDITOR)):
        add_member(campaign=empty, user=world.people[name], role=role)
    return world


@pytest.mark.parametrize("page", PAGES)
def test_an_organizer_reads_where_to_load_it(world: World, page: str) -> None:
    shown = main_of(world, "olga", page)
    assert "Load them under Data" in shown
    assert "manage.py" not in shown
    assert "An organizer loads them." not in shown


@pytest.mark.parametrize("person", ["rita", "audrey"])
@pytest.mark.parametrize("page", ["today/", *PAGES])
def test_who_cannot_load_it_reads_who_does(world: World, page: str, person: str) -> None:
    shown = main_of(world, person, page)
    assert "An organizer loads them." in shown
    assert "Load " not in shown
    assert "manage.py" not in shown


def test_an_empty_campaign_begins_with_loading_data(world: World) -> None:
    shown = main_of(world, "olga", "")
    assert "Load topics, runs and passages" in shown
    assert "manage.py" not in shown
