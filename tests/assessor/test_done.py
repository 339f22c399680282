"""The card after a submission: how much was done, and the next of one's own tasks as the task list orders them."""

from pathlib import Path

import pytest

from evaluation.models import Task
from evaluation.terms import TaskState
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path: Path) -> DeskWorld:
    """Ann's two tasks of making nuggets."""
    return make_desk_world(tmp_path)


def card(world: DeskWorld, task: Task, name: str = "ann") -> str:
    page = world.client(name).get(f"/desk/{task.public_id}/?submitted")
    return page.content.decode() if page.status_code == 200 else ""


def submit(world: DeskWorld, task: Task) -> None:
    """Ann works a list off and submits it."""
    window = Window(world.client("ann"), task).open()
    window.finish()
    assert window.submit().status_code == 200


def test_the_card_leads_to_the_first_task_of_the_list(world: DeskWorld) -> None:
    submit(world, world.post_edit)
    shown = card(world, world.post_edit)
    assert "Submitted: 5 nuggets" in shown
    assert f'action="/desk/{world.manual.public_id}/start/"' in shown
    Window(world.client("ann"), world.manual).open()
    assert f'class="button go" href="/desk/{world.manual.public_id}/"' in card(world, world.post_edit)


@pytest.mark.parametrize(("state", "why"), [(TaskState.WITHDRAWN, "done"), (TaskState.BLOCKED, "blocked")])
def test_where_no_task_is_left_the_card_gives_the_reason(world: DeskWorld, state: str, why: str) -> None:
    submit(world, world.post_edit)
    Task.objects.filter(pk=world.manual.pk).update(state=state)
    shown = card(world, world.post_edit)
    assert f'data-why="{why}"' in shown
    assert "data-first" in shown


def test_an_open_task_and_somebody_elses_have_no_card(world: DeskWorld) -> None:
    Window(world.client("ann"), world.post_edit).open()
    assert 'id="done"' not in card(world, world.post_edit)
    submit(world, world.post_edit)
    assert card(world, world.post_edit, "ben") == ""
    assert 'id="done"' not in world.client("ann").get(f"/desk/{world.post_edit.public_id}/").content.decode()
