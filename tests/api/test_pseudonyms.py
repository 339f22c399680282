"""People leave the API under their pseudonyms: no name and no e-mail of an account, wherever it stands."""

import re

from api.collections import COLLECTIONS
from evaluation.campaigns.create import add_member
from evaluation.campaigns.pseudonyms import pseudonym_of
from evaluation.judges import judge_of
from evaluation.models import Event, Judge
from evaluation.terms import Role
from tests.api.conftest import hand_out_to, program_of
from tests.api.reading import Program, with_form
from tests.crawl.canaries import body_of
from tests.worlds.campaign import World

PERSON = re.compile(r"person-[0-9a-f]{8}")


def named_world(world: World) -> str:
    """Let Ann have a name, work, labels and a place in the log; return her pseudonym."""
    ann = world.people["ann"]
    ann.first_name, ann.last_name = "Antonia", "Archer"
    ann.save()
    hand_out_to(world, "ann")
    judge = Judge.objects.get(name="person")
    Judge.objects.filter(pk=judge_of(ann).pk).update(user=None, name="nobody")
    Judge.objects.filter(pk=judge.pk).update(user=ann, name="Antonia Archer")
    payload = {
        "why": "Ann (ann) is ill, write to ann@example.org",
        "user": ann.pk,
        "all": ["ann", "Antonia Archer"],
    }
    Event.objects.create(campaign=world.campaign, kind="note", actor=ann, payload=payload)
    add_member(campaign=world.campaign, user=world.people["sam"], role=Role.AUDITOR)
    return pseudonym_of(world.campaign, ann.pk)


def test_no_name_of_an_account_leaves(olga: Program, world: World) -> None:
    shown = named_world(world)
    names = re.compile(r"(?<![\w-])(?:ann|ben|olga|rita|audrey|sam|archer)(?![\w-])|@example\.org", re.IGNORECASE)
    paths = [collection.name for collection in COLLECTIONS if collection.name != "scores"]
    paths += ["scores?campaign=river&condition=A/M", "support-judgments?campaign=river&condition=scratch"]
    for path in paths:
        for form in ("json", "jsonl", "csv"):
            body = body_of(olga.get(with_form(path, form))).decode()
            assert names.findall(body) == [], path
    assert olga.rows("assignments?campaign=river&judge=" + shown)


def test_a_person_is_the_same_everywhere_in_a_campaign(olga: Program, world: World) -> None:
    shown = named_world(world)
    assert olga.rows("support-judgments")[0]["judge"] == shown
    assert olga.rows("tasks")[0]["assessor"] == shown
    assert olga.rows(f"tasks?campaign=river&assessor={shown}") == olga.rows("tasks")
    (note,) = olga.rows("events?kind=note")
    assert note["actor"] == shown
    assert note["payload"]["all"] == [shown, shown]
    assert note["payload"]["user"] == shown
    (row,) = olga.rows("scores?campaign=river&condition=A/M&run=alpha")
    assert row["judge"] == shown
    (second,) = olga.rows(f"scores?campaign=river&condition=A/M&run=alpha&judge={shown}")
    assert second == row


def test_a_refusal_names_nobody(olga: Program, world: World) -> None:
    shown = named_world(world)
    problem = olga.problem("scores?campaign=river&condition=A/M&judge=nobody", 422)
    assert shown in problem["detail"]
    assert "Archer" not in problem["detail"]


def test_a_set_that_bears_a_name_bears_a_pseudonym(world: World) -> None:
    ann = world.people["ann"]
    ann.first_name, ann.last_name = "Antonia", "Archer"
    ann.save()
    hand_out_to(world, "ann")
    sets = {row["name"] for row in program_of(world, "rita").rows("nugget-sets")}
    assert sets == {"auto-robot", f"manual-{pseudonym_of(world.campaign, ann.pk)}"}
    assert all(PERSON.search(set_name) or set_name == "auto-robot" for set_name in sets)
