"""Forms that ask about topics say what is missing, and lead there, while there is nothing to choose."""

import re

import pytest

from evaluation.campaigns.create import add_member, create_campaign
from evaluation.models import Assignment, SupportJudgment
from evaluation.terms import Role
from tests.worlds.campaign import World

FORMS = ("jobs/new/", "studies/new/", "work/hand-out/", "work/change/")


def main_of(world: World, slug: str, page: str) -> str:
    """What stands between header and footer of a page of Olga's."""
    html = world.client("olga").get(f"/campaigns/{slug}/{page}").content.decode()
    return html[html.index("<main") : html.index("</main>")]


@pytest.mark.parametrize("page", FORMS)
def test_without_topics_there_is_no_form(world: World, page: str) -> None:
    empty, _ = create_campaign(slug="empty", name="Empty")
    add_member(campaign=empty, user=world.people["olga"], role=Role.ORGANIZER)
    shown = main_of(world, "empty", page)
    assert "<form" not in shown
    assert re.search(r"There are no topics yet|Nothing is handed out yet", shown)
    assert re.search(r'href="/campaigns/empty/(data|work/hand-out)/"', shown)


def test_a_study_needs_labels_of_a_person_and_of_an_llm(world: World) -> None:
    Assignment.objects.all().delete()
    SupportJudgment.objects.all().delete()
    shown = main_of(world, "river", "studies/new/")
    assert "<form" not in shown
    assert "No person has labelled anything yet." in shown
    assert "No LLM has labelled anything yet." in shown
    assert 'href="/campaigns/river/jobs/new/"' in shown
