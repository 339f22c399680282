"""Taking a role asks first: it names the person, the role and the work that is not finished."""

from pathlib import Path

import pytest
from django.urls import reverse

from evaluation.models import Membership
from evaluation.terms import Role
from tests.accounts.conftest import People
from tests.worlds.work import make_work_world

pytestmark = pytest.mark.django_db


def read(people: People, path: str = "", by: str = "olga") -> str:
    response = people.client(by).get(people.page(path))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def asking(people: People, name: str, role: str) -> str:
    return f"{people.by_name[name].pk}/take/{role}/"


def test_taking_a_role_asks_and_names_person_and_role(people: People) -> None:
    page = read(people)
    assert f'href="{people.page(asking(people, "rita", "researcher"))}"' in page
    assert people.page("take/") not in page
    question = read(people, asking(people, "rita", "researcher"))
    assert "Take the role researcher away from <bdi>rita</bdi>?" in question
    assert "No unfinished task." in question
    assert f'action="{people.page("take/")}"' in question
    assert Membership.objects.filter(user__username="rita").exists()


def test_nobody_is_offered_their_own_role(people: People) -> None:
    Membership.objects.create(campaign=people.campaign, user=people.by_name["sam"], role=Role.ORGANIZER)
    page = read(people)
    assert asking(people, "olga", "organizer") not in page
    assert asking(people, "sam", "organizer") in page


def test_the_last_organizer_s_role_is_not_offered(people: People) -> None:
    assert asking(people, "olga", "organizer") not in read(people, by="ada")
    Membership.objects.create(campaign=people.campaign, user=people.by_name["sam"], role=Role.ORGANIZER)
    assert asking(people, "olga", "organizer") in read(people, by="ada")


def test_unfinished_tasks_are_named_and_keep_the_role(tmp_path: Path) -> None:
    world = make_work_world(tmp_path)
    ann = world.people["ann"].pk
    response = world.client("olga").get(f"/campaigns/river/people/{ann}/take/assessor/")
    page = " ".join(response.content.decode().split())
    assert "2 unfinished tasks:" in page
    for task in (world.post_edit, world.manual):
        assert f'href="{reverse("organizer:task", args=["river", task.public_id])}"' in page
    assert "They hold 2 unfinished tasks: reassign or withdraw first" in page
    assert "/people/take/" not in page


@pytest.mark.parametrize(("name", "role"), [("rita", "assessor"), ("sam", "assessor"), ("rita", "king")])
def test_a_role_that_somebody_lacks_is_not_asked_about(people: People, name: str, role: str) -> None:
    assert people.client("olga").get(people.page(asking(people, name, role))).status_code == 404


@pytest.mark.parametrize(("by", "status"), [("ann", 404), ("rita", 403), ("audrey", 403), ("sam", 404)])
def test_only_organizers_are_asked(people: People, by: str, status: int) -> None:
    assert people.client(by).get(people.page(asking(people, "rita", "researcher"))).status_code == status
