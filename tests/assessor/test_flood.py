"""Requests of a desk are many, and not without end."""

import pytest

from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld

pytestmark = pytest.mark.django_db


def test_a_flood_from_one_account_is_slowed_down(world: DeskWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    window = Window(world.client(), world.post_edit).open()
    monkeypatch.setattr("assessor.access.MOST", 3)
    answers = [window.client.get(window.url("state/")) for _ in range(10)]
    slowed = [answer for answer in answers if answer.status_code == 429]
    assert slowed
    assert int(slowed[0]["Retry-After"]) > 0
    assert slowed[0].json()["code"] == "too_many_requests"
    monkeypatch.setattr("assessor.access.MOST", 6000)
    assert window.client.get(window.url("state/")).status_code == 200
