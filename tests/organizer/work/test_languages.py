"""Nobody is handed a topic in a language that they do not read: on the work page, by the API, and when reassigned."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.campaigns.create import CampaignFile
from evaluation.campaigns.people import set_campaign_language, set_languages
from evaluation.errors import Refused
from evaluation.models import Event, Membership, Task, Topic
from evaluation.stages import SUPPORT_SCRATCH
from evaluation.tasks.hand_out import hand_out, reassign
from evaluation.tasks.plan import plan_hand_out
from evaluation.tasks.units import Order
from evaluation.terms import Role
from tests.worlds.judging import JudgingWorld, make_judging_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    """Two topics: t1 in Arabic, t2 in no language that its file names. Ann reads English."""
    world = make_judging_world(tmp_path)
    Topic.objects.filter(topic_id="t1").update(language="ar")
    set_languages(campaign=world.campaign, username="ann", languages="EN, fr", actor=world.people["olga"])
    return world


def client_of(world: JudgingWorld, name: str) -> Client:
    client = Client()
    client.force_login(world.people[name])
    return client


def order(world: JudgingWorld, assessor: str, *topics: str) -> Order:
    return Order(SUPPORT_SCRATCH, tuple(world.topic(topic).public_id for topic in topics), assessor)


def test_a_plan_skips_topics_in_another_language_and_says_why(world: JudgingWorld) -> None:
    plan = plan_hand_out(world.campaign, order(world, "ann", "t1"))
    assert plan.given == ()
    [skipped] = plan.skipped
    assert str(skipped.reason) == "ann does not read ar, the topic's language."


def test_where_nobody_is_named_a_reader_gets_it(world: JudgingWorld) -> None:
    plan = plan_hand_out(world.campaign, order(world, "", "t1"))
    assert [planned.assessor.username for planned in plan.given if planned.assessor] == ["ben"]


def test_the_campaign_s_language_counts_where_the_topic_has_none(world: JudgingWorld) -> None:
    world.run("second", ("Dams hold.", [0]), topic="t2")
    assert plan_hand_out(world.campaign, order(world, "ann", "t2")).given
    assert set_campaign_language(campaign=world.campaign, language="ara", actor=None) == "ar"
    world.campaign.refresh_from_db()
    assert not plan_hand_out(world.campaign, order(world, "ann", "t2")).given
    Topic.objects.filter(topic_id="t2").update(language="en-GB")
    assert plan_hand_out(world.campaign, order(world, "ann", "t2")).given


def test_neither_the_form_nor_the_api_hands_it_out(world: JudgingWorld) -> None:
    olga = client_of(world, "olga")
    order = {
        "stage": "support-scratch",
        "topics": [world.topic().public_id],
        "assessor": "ann",
        "priority": "0",
        "preview": "1",
    }
    shown = olga.post(reverse("organizer:hand_out", args=["river"]), order).content.decode()
    assert "does not read ar, the topic&#x27;s language" in shown
    body = {"campaign": "river", "stage": "support-scratch", "topics": ["t1"], "assessor": "ann"}
    answer = olga.post("/api/v1/tasks/", body, content_type="application/json")
    assert "does not read ar" in answer.content.decode()
    assert not Task.objects.exists()


def test_a_task_is_not_reassigned_to_somebody_who_does_not_read_it(world: JudgingWorld) -> None:
    receipt = hand_out(campaign=world.campaign, order=order(world, "ben", "t1"), actor=world.people["olga"])
    with pytest.raises(Refused, match="does not read ar"):
        reassign(
            campaign=world.campaign,
            task=receipt.tasks[0],
            assessor="ann",
            reason="Ben is away.",
            actor=world.people["olga"],
        )
    assert Task.objects.get().assessor.username == "ben"


def test_organizers_say_on_the_people_page_who_reads_what(world: JudgingWorld) -> None:
    olga = client_of(world, "olga")
    page = olga.get("/campaigns/river/people/").content.decode()
    assert 'value="en fr"' in page
    olga.post("/campaigns/river/people/languages/", {"username": "ann", "languages": "arb pt_BR"})
    assert Membership.objects.get(user__username="ann").languages == "ar pt-BR"
    assert Event.objects.filter(kind="member.languages").count() == 2
    refused = olga.post("/campaigns/river/people/languages/", {"username": "ann", "languages": "English"})
    assert "A language is a tag such as en, ar or pt-BR, found English." in refused.content.decode()
    olga.post("/campaigns/river/people/language/", {"language": "en"})
    world.campaign.refresh_from_db()
    assert world.campaign.language == "en"
    rita = client_of(world, "rita")
    assert "ar pt-BR" in rita.get("/campaigns/river/people/").content.decode()
    assert rita.post("/campaigns/river/people/languages/", {"username": "ann", "languages": ""}).status_code == 403
    assert Membership.objects.get(user__username="ann", role=Role.ASSESSOR).languages == "ar pt-BR"


def test_a_campaign_s_file_names_its_language() -> None:
    assert CampaignFile(language="ENG").language == "en"
    with pytest.raises(ValueError, match="a BCP 47 language tag such as en or pt-BR, found 'English'"):
        CampaignFile(language="English")
