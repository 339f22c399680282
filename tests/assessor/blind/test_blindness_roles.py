"""Who works at a desk and comes to another role in the campaign: never both the desk and what it may not show."""

import pytest

from evaluation.models import Membership, Task
from evaluation.terms import Role, TaskState
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld


def sees_both(world: DeskWorld) -> bool:
    """Whether Ann can work at her desk and open the unblinded page of its topic."""
    client, topic = world.client(), world.topic("t2").public_id
    desk = client.get(f"/desk/{world.manual.public_id}/state/").status_code
    page = client.get(f"/campaigns/{world.campaign.slug}/topics/{topic}/").status_code
    return (desk, page) == (200, 200)


def test_an_organizer_s_role_beside_the_assessor_s_opens_nothing(world: DeskWorld) -> None:
    Window(world.client(), world.manual).open()
    Membership.objects.create(campaign=world.campaign, user=world.people["ann"], role=Role.ORGANIZER)
    assert not sees_both(world)


@pytest.mark.parametrize("role", [Role.ORGANIZER, Role.RESEARCHER, Role.AUDITOR])
def test_another_role_opens_nothing_while_there_are_tasks(world: DeskWorld, role: Role) -> None:
    Window(world.client(), world.manual).open()
    Membership.objects.filter(user=world.people["ann"]).update(role=role)
    assert not sees_both(world)


def test_an_administrator_with_tasks_opens_no_admin(world: DeskWorld) -> None:
    ann = world.people["ann"]
    ann.is_staff = ann.is_superuser = True
    ann.save()
    client = world.client()
    assert client.get("/admin/evaluation/run/").status_code in (302, 403)
    assert client.get("/admin/evaluation/run/", follow=True).status_code == 403
    Task.objects.filter(assessor=ann).update(state=TaskState.WITHDRAWN)
    assert client.get("/admin/evaluation/run/").status_code == 200
