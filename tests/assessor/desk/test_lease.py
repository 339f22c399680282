"""Which window may write: one that fell silent while in view is taken over unaided, one that is hidden is not."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from assessor.models import Desk
from tests.assessor.desk_client import Window
from tests.worlds.desk import make_desk_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(tmp_path: Path) -> Window:
    world = make_desk_world(tmp_path)
    window = Window(world.client("ann"), world.post_edit).open()
    window.post("hold/", {"window": window.window})
    return window


def beat(window: Window, page: str) -> dict[str, object]:
    body = {"window": window.window, "segments": [], "elapsed_ms": 0, "page": page}
    answer: dict[str, object] = window.post("beat/", body).json()
    return answer


def silent_for(seconds: int) -> None:
    """Let time pass without a word from the holder."""
    Desk.objects.update(held_at=timezone.now() - timedelta(seconds=seconds))


def hold(newcomer: Window) -> dict[str, object]:
    answer: dict[str, object] = newcomer.post("hold/", {"window": newcomer.window}).json()
    return answer


@pytest.mark.parametrize("page", ["visible", "left"])
def test_a_window_in_view_that_fell_silent_is_free_after_30_s(ann: Window, page: str) -> None:
    beat(ann, page)
    newcomer = Window(ann.client, ann.task)
    silent_for(20)
    assert (hold(newcomer)["holder"], hold(newcomer)["free_in_s"]) == ("other", 9)
    assert newcomer.state()["holder"]["free_in_s"] == 9
    silent_for(30)
    assert hold(newcomer)["holder"] == "mine"
    assert ann.do("decide", key="d1", decision="kept")["status"] == "moved"


def test_a_hidden_window_is_left_only_when_somebody_asks(ann: Window) -> None:
    beat(ann, "hidden")
    newcomer = Window(ann.client, ann.task)
    silent_for(3600)
    assert (hold(newcomer)["holder"], hold(newcomer)["free_in_s"]) == ("other", None)
    assert beat(newcomer, "visible")["free_in_s"] is None
    assert newcomer.post("hold/", {"window": newcomer.window, "want": "take"}).json()["holder"] == "mine"
    silent_for(30)
    assert hold(ann)["holder"] == "mine"  # how the page of an earlier holder was is forgotten


def test_a_live_window_stays_the_holder(ann: Window) -> None:
    newcomer = Window(ann.client, ann.task)
    for _ in range(4):
        silent_for(16)
        assert hold(newcomer)["holder"] == "other"
        beat(ann, "visible")
    assert ann.do("decide", key="d1", decision="kept")["status"] == "applied"
