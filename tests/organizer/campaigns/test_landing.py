"""Where signing in leads, the page of exports, and how the system stands."""

import html
import re

import pytest
from django.conf import settings
from django.test import Client

from api.collections import COLLECTIONS
from evaluation.campaigns.create import add_member
from evaluation.models import Membership
from evaluation.terms import Role
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import take_snapshot
from tests.worlds.campaign import World
from tests.worlds.cast import make_campaign, make_user

EXPORTS = "/campaigns/river/exports/"


def first_page(client: Client) -> str:
    response = client.get("/start/")
    return response.headers["Location"]


def test_check_51_signing_in_leads_where_the_role_works(world: World) -> None:
    assert settings.LOGIN_REDIRECT_URL == "organizer:landing"
    found = {name: first_page(world.client(name)) for name in ("ann", "olga", "rita", "audrey", "sam")}
    assert found == {
        "ann": "/desk/",
        "olga": "/campaigns/river/today/",
        "rita": EXPORTS,
        "audrey": "/campaigns/river/audit/",
        "sam": "/",
    }
    for name, address in found.items():
        stranger = Client()
        sign_in = stranger.get("/").headers["Location"]
        signed_in = stranger.post(sign_in, {"login": name, "password": name}, follow=True)
        assert signed_in.redirect_chain[-1][0] == address  # straight in, with no list to choose from
        page = signed_in.content.decode()
        assert signed_in.status_code == 200
        assert "signed in" not in page.partition("<main")[2]
        assert not list(signed_in.context["messages"])


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.ASSESSOR, Role.ORGANIZER])
def test_with_a_second_campaign_the_list_comes_first(world: World, role: Role) -> None:
    other = make_campaign("lake", "Lake study")
    add_member(campaign=other, user=world.people["olga"], role=role)
    assert first_page(world.client("olga")) == "/"


def test_judging_organizers_land_where_nothing_is_unblinded(world: World) -> None:
    Membership.objects.create(campaign=world.campaign, user=world.people["ann"], role=Role.ORGANIZER)
    assert first_page(world.client("ann")) == "/"
    assert world.client("ann").get("/").headers["Location"] == "/desk/"


def test_an_administrator_sees_how_the_system_stands(world: World) -> None:
    root = make_user("root", is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(root)
    assert first_page(client) == "/"
    page = client.get("/").content.decode()
    assert "0 due" in page
    assert "append-only" in page
    assert "How the system stands" not in world.client("olga").get("/").content.decode()


def test_the_catalogue_tells_what_exists_and_how_to_get_it(world: World) -> None:
    snapshot = take_snapshot(campaign=world.campaign, name="first", contents=SnapshotContents(names=False))
    page = world.client("rita").get(EXPORTS)
    rows = {name: count for name, _, count in page.context["holdings"]}
    assert (rows["topics"], rows["runs"], rows["answers"], rows["nuggets"], rows["grades"]) == (2, 2, 3, 2, 3)
    assert set(rows) <= {collection.name for collection in COLLECTIONS}
    text = page.content.decode()
    assert snapshot.sha256 in text
    assert "http://testserver/api/v1/assignments/?campaign=river" in text
    for name in rows:
        query = "&condition=A/A" if name == "scores" else ""
        assert world.client("rita").get(f"/api/v1/{name}/?campaign=river{query}").status_code == 200
    assert world.client("ann").get(EXPORTS).status_code == 404


def test_check_94_a_researcher_takes_scores_and_labels_in_2_clicks(world: World) -> None:
    client = world.client("rita")
    landing = client.get("/start/", follow=True)
    assert landing.redirect_chain[-1][0] == EXPORTS
    page = landing.content.decode()
    links = {
        html.unescape(link): name for link, name in re.findall(r'href="(/api/[^"]+csv)" download="([^"]+)"', page)
    }
    assert {"river-assignments.csv", "river-support-judgments.csv"} <= set(links.values())
    assert any(name.startswith("river-scores-") for name in links.values())
    for link in links:
        file = client.get(link)
        assert file.status_code == 200
        text = b"".join(file).decode()
        assert "campaign" in text.partition("\n")[0]
        assert not [name for name in ("ann", "ben") if re.search(rf"\b{name}\b", text)]


def test_the_columns_of_the_cards_are_those_of_the_files(world: World) -> None:
    columns = {collection.name: [*collection.row.model_fields] for collection in COLLECTIONS}
    for card in world.client("rita").get(EXPORTS).context["cards"]:
        for _, address, _ in card.files:
            assert set(card.columns) <= set(columns[address.split("/")[3]]), card.title


def test_what_has_names_is_not_listed_for_researchers(world: World) -> None:
    take_snapshot(campaign=world.campaign, name="named", contents=SnapshotContents(names=True))
    take_snapshot(campaign=world.campaign, name="veiled", contents=SnapshotContents(names=False))
    page = world.client("rita").get(EXPORTS).content.decode()
    assert "veiled" in page
    assert "named" not in page
    assert "named" in world.client("olga").get(EXPORTS).content.decode()
