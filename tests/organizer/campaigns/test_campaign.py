"""The campaign's own address leads to Today, and what is loaded is counted on Data."""

from django.urls import reverse

from tests.worlds.campaign import World


def test_the_campaign_s_address_leads_to_today_with_its_query(world: World) -> None:
    olga = world.client("olga")
    assert olga.get("/campaigns/river/?state=late").headers["Location"] == "/campaigns/river/today/?state=late"
    assert world.client("ann").get("/campaigns/river/").status_code == 404


def test_data_counts_what_is_loaded_by_source_set_and_judge(world: World) -> None:
    page = world.client("olga").get(reverse("organizer:data", args=["river"])).content.decode()
    for text in ("NIST", "auto-robot", "robot", "person", "scratch", "unknown label"):
        assert text in page
    assert "/campaigns/river/findings/?code=unknown_label" in page
