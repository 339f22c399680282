"""Who may open the unblinded pages: one row per person, for every page there is."""

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.campaigns.access import unblinded_campaign_for
from evaluation.models import Campaign, Membership
from evaluation.terms import Role
from tests.worlds.campaign import World, queries_of
from tests.worlds.cast import make_user

PAGES = ["today", "topics", "topic", "runs", "run", "segment", "findings", "people", "correlation", "scatter"]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    ("person", "status"), [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 200), ("audrey", 200)]
)
def test_only_unblinded_members_open_a_page(world: World, page: str, person: str, status: int) -> None:
    address = world.pages()[page] + ("?x=A/A&y=A/M" if page in ("correlation", "scatter") else "")
    assert world.client(person).get(address).status_code == status


@pytest.mark.parametrize("page", PAGES)
def test_an_organizer_who_also_judges_sees_nothing_unblinded(world: World, page: str) -> None:
    Membership.objects.create(campaign=world.campaign, user=world.people["olga"], role=Role.ASSESSOR)
    assert world.client("olga").get(world.pages()[page]).status_code == 404


@pytest.mark.parametrize("page", PAGES)
def test_nobody_opens_a_page_without_signing_in(world: World, page: str) -> None:
    response = Client().get(world.pages()[page])
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("account_login"))


def test_a_superuser_sees_every_campaign_unless_judging_in_it(world: World) -> None:
    root = make_user("root", is_superuser=True)
    assert unblinded_campaign_for(root, world.campaign.slug) == world.campaign
    Membership.objects.create(campaign=world.campaign, user=root, role=Role.ASSESSOR)
    with pytest.raises(Campaign.DoesNotExist):
        unblinded_campaign_for(root, world.campaign.slug)


def test_what_is_not_yours_answers_exactly_as_what_is_not_there(world: World) -> None:
    client = world.client("ann")
    client.get("/")  # the session's first request is not like the others
    mine = client.get(reverse("organizer:data", args=[world.campaign.slug]))
    missing = client.get(reverse("organizer:data", args=["nowhere"]))
    assert (mine.status_code, without_token(mine.content)) == (missing.status_code, without_token(missing.content))


@pytest.mark.parametrize("page", ["topic", "run", "segment"])
def test_a_thing_of_another_campaign_is_not_found_in_mine(world: World, page: str) -> None:
    other = Campaign.objects.create(slug="other", name="Other")
    Membership.objects.create(campaign=other, user=world.people["olga"], role=Role.ORGANIZER)
    address = world.pages()[page].replace(f"/{world.campaign.slug}/", "/other/")
    assert world.client("olga").get(address).status_code == 404


@pytest.mark.parametrize("page", PAGES)
def test_pages_only_answer_reading(world: World, page: str) -> None:
    assert world.client("olga").post(world.pages()[page]).status_code == 405


def test_a_refused_page_costs_as_many_queries_as_a_missing_one(world: World) -> None:
    client = world.client("sam")
    refused = queries_of(client, reverse("organizer:data", args=[world.campaign.slug]), status=404)
    assert refused == queries_of(client, reverse("organizer:data", args=["nowhere"]), status=404)


def without_token(body: bytes) -> bytes:
    """Cut the CSRF token out, which differs from page to page."""
    head, _, rest = body.partition(b'name="csrfmiddlewaretoken" value="')
    return head + rest.partition(b'"')[2]


@pytest.mark.parametrize("act", ["people/invite/", "people/give/", "snapshots/take/", "studies/1/hand-out/"])
def test_an_address_that_takes_only_forms_says_so_to_who_reads_it(world: World, act: str) -> None:
    answer = world.client("olga").get(f"/campaigns/river/{act}")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    page = answer.content.decode()
    assert "only takes what a form sends" in page
    assert f'<a href="{reverse("organizer:campaigns")}">Your campaigns</a>' in page
