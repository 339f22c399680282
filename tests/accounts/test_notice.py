"""Nobody's work is recorded before they have read what is recorded; and a desk that is open is never stopped."""

from pathlib import Path

import pytest
from django.test import Client

from accounts.models import NOTICE_VERSION, User
from tests.worlds.cast import make_user
from tests.worlds.desk import DeskWorld
from tests.worlds.work import make_work_world

pytestmark = pytest.mark.django_db

NOTICE = "/accounts/notice/"


@pytest.fixture
def desk(db: None, tmp_path: Path) -> DeskWorld:
    """Ann's tasks, and Ann has read nothing yet."""
    world = make_work_world(tmp_path)
    User.objects.filter(username="ann").update(notice_version=0, notice_at=None)
    world.people["ann"].refresh_from_db()
    return world


def test_the_notice_comes_first_and_once(desk: DeskWorld) -> None:
    client, task = desk.client("ann"), f"/desk/{desk.post_edit.public_id}/"
    first = client.get(task)
    assert first["Location"] == f"{NOTICE}?next=%2Fdesk%2F{desk.post_edit.public_id}%2F"
    page = client.get(first["Location"]).content.decode()
    for phrase in ("Please read this once", "Who sees it", "How long", "Not recorded"):
        assert phrase in page
    assert client.post(NOTICE, {"next": task})["Location"] == task
    assert client.get(task).status_code == 200
    ann = User.objects.get(username="ann")
    assert ann.notice_version == NOTICE_VERSION
    assert ann.notice_at
    assert "You have read this on" in client.get(NOTICE).content.decode()


def test_nothing_is_opened_before(desk: DeskWorld) -> None:
    client = desk.client("ann")
    url = f"/desk/{desk.post_edit.public_id}/"
    for answer in (client.post(f"{url}start/"), client.get(f"{url}practice/")):
        assert answer["Location"].startswith(NOTICE)
    desk.post_edit.refresh_from_db()
    assert desk.post_edit.opened_at is None


def test_a_new_notice_does_not_stop_a_desk_that_is_open(desk: DeskWorld) -> None:
    client = desk.client("ann")
    answer = client.get(f"/desk/{desk.post_edit.public_id}/state/")
    assert answer.status_code != 302


@pytest.mark.slow
def test_reading_again_keeps_the_moment(desk: DeskWorld) -> None:
    client = desk.client("ann")
    client.post(NOTICE)
    first = User.objects.get(username="ann").notice_at
    client.post(NOTICE)
    assert User.objects.get(username="ann").notice_at == first


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_it_leads_nowhere_else(client: Client, elsewhere: str) -> None:
    client.force_login(make_user("ann", notice_version=0))
    assert client.post(NOTICE, {"next": elsewhere})["Location"] == "/"
