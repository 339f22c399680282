"""Automatic lists taken as drafts: one press of the hand-out form or a command, with what is behind each nugget."""

from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Event, ListedNugget, NuggetEvidence, NuggetList, NuggetSet, Segment, Topic
from evaluation.terms import Origin
from exchange.imports.undo import undo_import
from tests.organizer.jobs.test_origins import make_list, page_of
from tests.worlds.campaign import World
from tests.worlds.imported import load, refuse

NO_DRAFTS = "There is no draft nugget set"
BUTTON = 'name="take_drafts" value="auto-robot"'


def hand_out_page(world: World, **fields: str) -> str:
    topics = [topic.public_id for topic in Topic.objects.all()]
    filled = {"stage": "post-edit", "priority": "0", "topics": topics, **fields}
    response = world.client("olga").post(reverse("organizer:hand_out", args=["river"]), filled)
    return response.content.decode()


def listed(name: str) -> list[tuple[Any, ...]]:
    rows = ListedNugget.objects.filter(nugget_list__nugget_set__name=name)
    fields = ("nugget_list__topic", "position", "nugget_version__text", "importance", "nugget_list__event")
    return list(rows.order_by(*fields).values_list(*fields))


def test_one_press_takes_an_automatic_set_as_drafts(world: World) -> None:
    before = listed("auto-robot")
    page = hand_out_page(world)
    assert NO_DRAFTS in page
    assert BUTTON in page
    page = hand_out_page(world, take_drafts="auto-robot")
    assert "taken as drafts into draft-robot." in page
    assert NO_DRAFTS not in page
    assert BUTTON not in page
    assert "drafts from <bdi>draft-robot</bdi>" in page
    assert listed("draft-robot") == listed("auto-robot") == before
    assert Event.objects.get(kind="drafts.taken").actor == world.people["olga"]
    assert BUTTON not in hand_out_page(world, stage="manual")


def test_only_organizers_take_drafts(world: World) -> None:
    address, fields = reverse("organizer:hand_out", args=["river"]), {"take_drafts": "auto-robot"}
    assert {world.client(name).post(address, fields).status_code for name in ("ann", "rita", "audrey")} <= {
        403,
        404,
    }
    assert not NuggetSet.objects.filter(origin=Origin.DRAFT).exists()


def test_a_taken_draft_shows_the_calls_and_passages_behind_it(world: World) -> None:
    automatic = make_list(world, judge="machine")
    version = automatic.items.all()[0].nugget_version
    NuggetEvidence.objects.create(nugget_version=version, segment=Segment.objects.get(docid="d1"), sentence=0)
    load("take_drafts", "--nuggets", "auto-machine")
    draft = NuggetList.objects.get(nugget_set__name="draft-machine")
    first = draft.items.all()[0]
    page = page_of(world, f"labels/nugget/{first.pk}/")
    assert "[&quot;water cuts&quot;]" in page
    assert "[&quot;vital&quot;]" in page
    assert "window 1" in page_of(world, f"labels/nuggets/{draft.pk}/")
    assert [(row.segment.docid, row.sentence) for row in first.nugget_version.evidence.all()] == [("d1", 0)]


def test_topics_with_drafts_keep_them(world: World) -> None:
    assert "0 lists" not in load("take_drafts").err
    drafts = listed("draft-robot")
    again = load("take_drafts", "--nuggets", "auto-robot")
    assert "0 lists taken" in again.err
    assert listed("draft-robot") == drafts
    assert Event.objects.filter(kind="drafts.taken").count() == 1


def test_drafts_of_the_judge_under_another_name_are_kept(world: World) -> None:
    load("take_drafts")
    NuggetSet.objects.filter(origin=Origin.DRAFT).update(name="by hand")
    assert "into by hand" in load("take_drafts").err
    assert NuggetSet.objects.filter(origin=Origin.DRAFT).count() == 1


def test_which_set_is_meant_has_to_be_clear(world: World) -> None:
    assert "there are: auto-robot" in refuse("take_drafts", "--nuggets", "auto-nobody")
    make_list(world, judge="machine")
    assert "choose one: auto-machine, auto-robot" in refuse("take_drafts", code=2)


def test_drafts_stay_when_their_import_is_taken_back(world: World) -> None:
    event = Event.objects.get(kind="import.nuggets")
    load("take_drafts", "--nuggets", "auto-robot")
    drafts = listed("draft-robot")
    for label in Event.objects.filter(kind="import.assignments").order_by("-pk"):
        undo_import(campaign=world.campaign, event=label, actor=None)
    undo_import(campaign=world.campaign, event=event, actor=None)
    assert listed("auto-robot") == []
    assert listed("draft-robot") == drafts


@pytest.mark.parametrize("person", ["olga", "audrey"])
def test_the_audit_names_who_took_drafts(world: World, person: str) -> None:
    hand_out_page(world, take_drafts="auto-robot")
    assert "drafts.taken" in page_of(world, "audit/", person)
