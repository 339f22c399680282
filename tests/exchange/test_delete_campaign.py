"""A campaign is deleted by its organizer, with its name typed; its desks stop, and the log keeps who did it."""

from pathlib import Path

import pytest
from django.core.management import call_command

from evaluation.models import Campaign, Event, Task
from tests.worlds.desk import DeskWorld
from tests.worlds.work import make_work_world

pytestmark = pytest.mark.postgresql
ADDRESS = "/campaigns/river/delete/"


@pytest.fixture
def desk(db: None, tmp_path: Path) -> DeskWorld:
    return make_work_world(tmp_path)


def test_only_the_typed_name_deletes(desk: DeskWorld) -> None:
    olga = desk.client("olga")
    assert "take a snapshot" in olga.get(ADDRESS).content.decode()
    assert olga.post(ADDRESS, {"name": "lake"}).status_code == 422
    assert Campaign.objects.filter(slug="river").exists()
    page = olga.post(ADDRESS, {"name": "river"}, follow=True).content.decode()
    assert "Campaign river is deleted." in page
    assert not Campaign.objects.exists()
    assert olga.get("/campaigns/river/today/").status_code == 404
    assert olga.get("/api/v1/campaigns/river/").status_code == 404
    event = Event.objects.get(kind="campaign.deleted")
    assert (event.actor, event.payload["slug"]) == (desk.people["olga"], "river")


@pytest.mark.parametrize("name", ["rita", "ann"])
def test_others_do_not_delete(desk: DeskWorld, name: str) -> None:
    assert desk.client(name).post(ADDRESS, {"name": "river"}).status_code in (403, 404)
    assert Campaign.objects.exists()


def test_an_open_desk_stops_with_words(desk: DeskWorld) -> None:
    desk.client("olga").post(ADDRESS, {"name": "river"})
    assert set(Task.objects.values_list("state", flat=True)) == {"withdrawn"}
    answer = desk.client().get(f"/desk/{desk.post_edit.public_id}/")
    assert answer.status_code in (404, 410)
    assert "The campaign was deleted." in answer.content.decode()


def test_a_command_and_a_program_delete_too(desk: DeskWorld) -> None:
    olga, kind = desk.client("olga"), "application/json"
    wrong = olga.post("/api/v1/campaigns/river/delete/", {"name": "lake"}, content_type=kind)
    assert (wrong.status_code, wrong.json()["code"]) == (422, "other_name")
    assert olga.post("/api/v1/campaigns/river/delete/", {"name": "river"}, content_type=kind).status_code == 200
    call_command("create_campaign", "river")
    call_command("delete_campaign", "--campaign", "river", "--name", "river")
    assert not Campaign.objects.exists()
