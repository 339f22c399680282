"""A token that is made without a browser: whose it is, what it opens, and what is refused."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import ApiToken, User
from evaluation.models import Campaign, Membership, Topic
from tests.worlds.cast import make_user
from tests.worlds.imported import load, refuse, run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _campaigns() -> None:
    assert run("create_campaign", "river").code == 0
    assert run("create_campaign", "delta").code == 0


def token(*words: str) -> str:
    return load("create_token", "--name", "ci", *words).out.strip()


def client(raw: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {raw}"})


def test_a_token_reads_its_campaign_and_no_other() -> None:
    raw = token()
    assert client(raw).get("/api/v1/runs/?campaign=river").status_code == 200
    assert client(raw).get("/api/v1/runs/?campaign=delta").status_code in {400, 404}
    assert client(raw).post("/api/v1/campaigns/river/imports/topics/").status_code == 403
    assert [(row.user.username, row.role) for row in Membership.objects.all()] == [("ci", "researcher")]


def test_a_token_that_writes_is_an_organizers() -> None:
    raw = token("--scope", "write", "--days", "7")
    file = SimpleUploadedFile("topics.tsv", b"t1\twhy do rivers bend\n")
    assert client(raw).post("/api/v1/campaigns/river/imports/topics/", {"file": file}).status_code == 200
    assert Topic.objects.get().topic_id == "t1"
    assert [(row.user.username, row.role) for row in Membership.objects.all()] == [("ci", "organizer")]
    assert ApiToken.objects.get().scopes == ["read", "write"]


def test_the_same_name_again_is_another_token_of_one_account() -> None:
    assert token() != token()
    assert User.objects.filter(username="ci").count() == 1
    assert not User.objects.get(username="ci").has_usable_password()


def test_names_of_people_and_what_is_no_name_are_refused() -> None:
    make_user("ci")
    assert "ci is the account of a person: choose another name." in refuse("create_token", "--name", "CI")
    assert "Name of the account" in refuse("create_token", "--name", "two words", code=2)
    assert "--days: from 1 to 365." in refuse("create_token", "--name", "bot", "--days", "0", code=2)
    assert not ApiToken.objects.exists()


def test_who_judges_gets_no_token_that_shows_whose_answers_they_are() -> None:
    token()
    account = User.objects.get(username="ci")
    Membership.objects.all().delete()
    Membership.objects.create(campaign=Campaign.objects.get(slug="river"), user=account, role="assessor")
    assert "gets no role that shows whose answers they are" in refuse("create_token", "--name", "ci")
