"""The overview: what is loaded, and the leaderboard of a condition."""

from evaluation.models import Campaign, Membership
from evaluation.terms import Role
from tests.worlds.campaign import World


def overview(world: World, query: str = "") -> str:
    return world.client("olga").get(world.pages()["campaign"] + query).content.decode()


def test_it_counts_what_is_loaded_by_source_set_and_judge(world: World) -> None:
    page = overview(world)
    for said in ("NIST", "2 of 2", "auto-robot", "robot", "person", "scratch", "unknown label", "import"):
        assert said in page


def test_findings_lead_to_their_list(world: World) -> None:
    assert "/campaigns/river/findings/?code=unknown_label" in overview(world)


def test_the_leaderboard_shows_its_condition_and_sources(world: World) -> None:
    page = overview(world, "?condition=A/M")
    assert "Leaderboard, A/M" in page
    assert "labels by <b><bdi>person</bdi></b>" in page
    assert "Median over runs, mean over topics" in page


def test_policies_stand_in_the_address_and_change_the_scores(world: World) -> None:
    assert "unjudged exclude" in overview(world)
    page = overview(world, "?condition=A/A&unjudged=zero")
    assert "unjudged zero" in page
    assert ">1.00 <" in page


def test_a_choice_that_does_not_exist_is_said_and_the_page_stands(world: World) -> None:
    page = overview(world, "?condition=Z/Z")
    assert "This is not a choice of this campaign." in page
    assert "auto-robot" in page


def test_a_condition_without_labels_is_not_an_error(world: World) -> None:
    assert "No nugget set of this condition" in overview(world, "?condition=E/M")


def test_an_empty_campaign_says_what_to_load(world: World) -> None:
    empty = Campaign.objects.create(slug="empty", name="Empty")
    Membership.objects.create(campaign=empty, user=world.people["olga"], role=Role.ORGANIZER)
    page = world.client("olga").get("/campaigns/empty/").content.decode()
    assert "manage.py import_topics --campaign empty" in page
    assert '<a href="/campaigns/empty/data/">Data</a>, or with' in page
