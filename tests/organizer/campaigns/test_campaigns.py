"""The list of campaigns, which is where everybody lands."""

from django.test import Client
from django.urls import reverse

from evaluation.models import Campaign, Membership, Topic
from evaluation.terms import Role
from tests.worlds.campaign import World, queries_of
from tests.worlds.cast import make_user


def test_an_organizer_reads_what_each_campaign_holds(world: World) -> None:
    page = world.client("olga").get("/").content.decode()
    assert "River study" in page
    for text in ("<dt>topics</dt><dd>2</dd>", "<dt>runs</dt><dd>2</dd>", "<dt>labels</dt><dd>9</dd>"):
        assert text in page


def test_who_only_assesses_lands_at_their_tasks_and_finds_no_way_in(world: World) -> None:
    response = world.client("ann").get("/", follow=True)
    assert response.redirect_chain == [(reverse("assessor:home"), 302)]
    assert "/campaigns/river/" not in response.content.decode()


def test_organizers_who_assess_elsewhere_are_led_to_both(world: World) -> None:
    other = Campaign.objects.create(slug="lake", name="Lake study")
    Membership.objects.create(campaign=other, user=world.people["olga"], role=Role.ASSESSOR)
    page = world.client("olga").get("/").content.decode()
    assert "/campaigns/river/" in page
    assert "/campaigns/lake/" not in page
    assert f'href="{reverse("assessor:home")}"' in page


def test_a_stranger_reads_of_no_campaign(world: World) -> None:
    page = world.client("sam").get("/").content.decode()
    assert "River study" not in page
    assert "You belong to no campaign yet." in page


def test_an_administrator_of_an_empty_installation_reads_what_to_do(db: None) -> None:
    client = Client()
    client.force_login(make_user("root", is_superuser=True))
    assert "Make the first one" in client.get("/").content.decode()


def test_more_campaigns_cost_no_more_queries(world: World) -> None:
    client = world.client("olga")
    before = queries_of(client, "/")
    for number in range(5):
        campaign = Campaign.objects.create(slug=f"c{number}", name=f"C {number}")
        Membership.objects.create(campaign=campaign, user=world.people["olga"], role=Role.ORGANIZER)
        Topic.objects.create(campaign=campaign, topic_id="1", text="x", position=0)
    assert queries_of(client, "/") == before
