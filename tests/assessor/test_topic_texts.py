"""What a topic says beside its title is shown at every desk, and before it, in the topic's language."""

from pathlib import Path

import pytest
from django.test import Client

from evaluation.models import Campaign, Task, Topic
from tests.assessor.desk_client import Window
from tests.worlds.desk import make_desk_world
from tests.worlds.judging_desk import make_judge_world

pytestmark = pytest.mark.django_db
TEXTS = {"problem_statement": "Why are wings <i>curved</i>?", "background": "I build gliders.", "article": "Lift."}
SHOWN = [
    "Problem statement",
    "Why are wings &lt;i&gt;curved&lt;/i&gt;?",
    "Background",
    "I build gliders.",
    "Article",
]


def task_of(stage: str, folder: Path) -> tuple[Client, Task]:
    if stage in ("post_edit", "manual"):
        desks = make_desk_world(folder)
        return desks.client("ann"), getattr(desks, stage)
    judging = make_judge_world(folder)
    return judging.client("ben" if stage == "scratch" else "ann"), getattr(judging, stage)


@pytest.mark.parametrize("stage", ["post_edit", "manual", "assign", "shown", "scratch"])
def test_every_desk_shows_the_topic_s_texts(tmp_path: Path, stage: str) -> None:
    client, task = task_of(stage, tmp_path)
    Topic.objects.update(**TEXTS, language="en-GB")
    start = client.get(f"/desk/{task.public_id}/").content.decode()
    assert all(text in start for text in SHOWN)
    Window(client, task).open()
    desk = client.get(f"/desk/{task.public_id}/", follow=True).content.decode()
    assert 'class="desk"' in desk
    assert all(text in desk for text in SHOWN)
    assert '<p class="read prewrap" dir="auto" lang="en-GB">I build gliders.</p>' in desk


def test_a_topic_without_texts_shows_no_fold_for_them(tmp_path: Path) -> None:
    client, task = task_of("assign", tmp_path)
    Campaign.objects.update(language="ar")
    page = client.get(f"/desk/{task.public_id}/").content.decode()
    assert "Problem statement" not in page
    assert '<h1 dir="auto" lang="ar">' in page
