"""Administrators make campaigns over the API, and organize what they made."""

import pytest

from accounts.models import User
from evaluation.campaigns.create import add_member
from evaluation.models import Campaign, Membership, Protocol
from evaluation.terms import Role
from tests.api.writing import Program, program_of
from tests.worlds.cast import make_campaign, make_cast, make_user

pytestmark = pytest.mark.django_db
NEW = {"slug": "lake", "name": "Lakes", "protocol": {"nugget_cap": 15}, "defaults": {"A/A": {"judge": "m1"}}}


@pytest.fixture
def ada() -> User:
    return make_user("ada", is_superuser=True)


@pytest.fixture
def program(ada: User) -> Program:
    return program_of(ada)


def test_a_campaign_is_made_and_organized_by_who_made_it(program: Program, ada: User) -> None:
    response = program.post("/campaigns/", NEW)
    assert response.status_code == 201
    assert response.json()["slug"] == "lake"
    assert program.get(response["Location"].removeprefix("/api/v1")).json() == response.json()
    campaign = Campaign.objects.get()
    assert campaign.protocol.nugget_cap == 15
    assert campaign.defaults.get().judge == "m1"
    assert Membership.objects.get(campaign=campaign, user=ada).role == Role.ORGANIZER


def test_the_same_changes_nothing_and_other_settings_need_replace(program: Program) -> None:
    program.post("/campaigns/", NEW)
    assert program.post("/campaigns/", NEW).status_code == 200
    other = NEW | {"protocol": {"nugget_cap": 12}}
    assert program.post("/campaigns/", other).json()["code"] == "campaign_differs"
    assert program.post("/campaigns/?replace=true", other).status_code == 200
    assert list(Protocol.objects.values_list("version", "nugget_cap")) == [(1, 15), (2, 12)]


def test_a_campaign_is_made_like_a_track_s(program: Program) -> None:
    assert program.post("/campaigns/", {"slug": "lake", "like": "ragtime-2026"}).status_code == 201
    assert Campaign.objects.get().protocol.topic_limit
    response = program.post("/campaigns/", {"slug": "sea", "like": "trec-rag-1924"})
    assert (response.status_code, "like" in response.content.decode()) == (400, True)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("{", "body"),
        ("[]", "body"),
        ('{"slug": "a", "name": "\\ud800"}', "body"),
        ('{"slug": "a", "description": "\\u0000"}', "body"),
        ({"name": "Lakes"}, "slug"),
        ({"slug": "a/b"}, "slug"),
        ({"slug": "lake", "protokol": {}}, "protokol"),
        ({"slug": "lake", "protocol": {"nugget_cap": "many"}}, "protocol.nugget_cap"),
    ],
)
def test_what_is_wrong_with_a_body_is_named(program: Program, body: object, named: str) -> None:
    response = program.post("/campaigns/", body)
    assert response.status_code == 400
    assert named in response.json()["errors"]
    assert not Campaign.objects.exists()


def test_a_body_that_is_no_json_is_not_read(program: Program) -> None:
    assert program.post("/campaigns/", b"slug=lake", "application/x-www-form-urlencoded").status_code == 415


def test_nobody_else_makes_campaigns() -> None:
    olga = make_cast(make_campaign())["olga"]
    assert program_of(olga).post("/campaigns/", NEW).status_code == 403
    assert Campaign.objects.count() == 1


def test_an_administrator_changes_no_campaign_in_which_they_judge(program: Program, ada: User) -> None:
    campaign = make_campaign("lake", "Lakes")
    add_member(campaign=campaign, user=ada, role=Role.ASSESSOR)
    response = program.post("/campaigns/?replace=true", NEW)
    assert (response.status_code, response.json()["code"]) == (422, "slug_taken")
    assert Protocol.objects.count() == 1
