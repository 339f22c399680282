"""A world whose rows are put back is as good as the one that was built."""

from pathlib import Path

import pytest
from django.db import transaction

from evaluation.models import Campaign, Topic
from tests.worlds.cast import make_campaign
from tests.worlds.imported import everything
from tests.worlds.judging import JudgingWorld, make_judging_world
from tests.worlds.recorded import built_once

built: list[Path] = []


@built_once
def build(folder: Path) -> JudgingWorld:
    built.append(folder)
    (folder / "written").write_text("by the builder")
    return make_judging_world(folder)


def undone(folder: Path) -> tuple[JudgingWorld, dict[str, list[tuple[object, ...]]]]:
    """Ask for the world, note all rows, spoil it, and undo everything, as the end of a test does."""
    folder.mkdir()
    with transaction.atomic():
        world, rows = build(folder), everything()
        world.people.clear()
        Topic.objects.update(text="spoilt")
        transaction.set_rollback(True)
    return world, rows


@pytest.mark.django_db
def test_what_one_test_spoils_is_whole_for_the_next(tmp_path: Path) -> None:
    spoilt, first = undone(tmp_path / "first")
    times = len(built)
    (tmp_path / "second").mkdir()
    world, second = build(tmp_path / "second"), everything()
    assert len(built) == times
    assert not spoilt.people
    assert set(world.people) >= {"ann", "olga"}
    assert world.folder == tmp_path / "second"
    assert (tmp_path / "second" / "written").read_text() == "by the builder"
    campaigns = {name: rows for name, rows in second.items() if name != "evaluation.Campaign"}
    assert campaigns == {name: first[name] for name in campaigns}


@pytest.mark.django_db
def test_each_campaign_is_new_to_what_processes_remember(tmp_path: Path) -> None:
    first, _ = undone(tmp_path / "first")
    second, _ = undone(tmp_path / "second")
    assert first.campaign.created_at < second.campaign.created_at


def test_rows_that_follow_get_keys_of_their_own(transactional_db: None, tmp_path: Path) -> None:
    undone(tmp_path / "first")
    world = build(tmp_path)
    assert Campaign.objects.get().created_at == world.campaign.created_at
    topic = Topic.objects.create(campaign=world.campaign, topic_id="new", text="a new topic", position=9)
    assert Topic.objects.filter(pk__lte=topic.pk).count() == Topic.objects.count()


@pytest.mark.django_db
def test_beside_another_campaign_it_is_built(tmp_path: Path) -> None:
    undone(tmp_path / "first")
    times = len(built)
    make_campaign(slug="lake")
    build(tmp_path)
    assert len(built) == times + 1
