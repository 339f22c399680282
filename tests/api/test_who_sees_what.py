"""Each collection for each role: everything for those who see a campaign unblinded, nothing for all others."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import ApiToken
from api.collections import COLLECTIONS
from evaluation.models import Membership, Run
from evaluation.terms import Role
from tests.api.conftest import hand_out_to, program_of
from tests.api.reading import Program
from tests.crawl.canaries import body_of
from tests.worlds.battles import judge_battles
from tests.worlds.campaign import World

SCORES = "scores?campaign=river&condition=A/A"
LISTS = [collection.name for collection in COLLECTIONS if collection.name != "scores"]
FILLED = [path for path in LISTS if path not in ("jobs", "time", "tasks")]


@pytest.fixture
def world(world: World) -> World:
    """With battles that people and a machine judged."""
    judge_battles(world.campaign, "person", "another", "robot")
    return world


def test_whoever_sees_a_campaign_unblinded_reads_all_of_it(world: World) -> None:
    for name in ("olga", "rita", "audrey"):
        program = program_of(world, name)
        assert {path: bool(program.json(path)["results"]) for path in FILLED} == dict.fromkeys(FILLED, True)
        assert len(program.json(SCORES)["results"]) == 2


def test_an_assessor_and_a_stranger_read_nothing(world: World) -> None:
    for name in ("ann", "sam"):
        program = program_of(world, name)
        assert {path: program.json(path)["results"] for path in LISTS} == {path: [] for path in LISTS}
        assert {path: program.lines(path) for path in LISTS} == {path: [] for path in LISTS}
        nowhere = SCORES.replace("river", "no")
        assert program.problem(SCORES, 400) == program.problem(nowhere, 400)


def test_an_organizer_who_judges_reads_nothing(world: World) -> None:
    Membership.objects.create(campaign=world.campaign, user=world.people["olga"], role=Role.ASSESSOR)
    assert {path: program_of(world, "olga").json(path)["results"] for path in FILLED} == {
        path: [] for path in FILLED
    }


def test_assessors_read_own_tasks_and_no_more_than_the_desk_says(world: World) -> None:
    task = hand_out_to(world, "ann")
    hand_out_to(world, "ben", second_opinion=True)
    (row,) = program_of(world, "ann").json("tasks")["results"]
    assert {name for name, value in row.items() if value not in (None, "")} == {
        *("id", "campaign", "topic", "stage", "state", "version")
    }
    assert row["id"] == task.public_id
    assert program_of(world, "ann").json(f"tasks/{task.public_id}") == row
    assert len(program_of(world, "olga").json("tasks")["results"]) == 2


def test_where_an_assessor_has_tasks_nobody_has_a_name_for_them(world: World) -> None:
    hand_out_to(world, "ann")
    ann, (named, *_) = program_of(world, "ann"), program_of(world, "olga").json("tasks")["results"]
    refusal = ann.problem(f"tasks?campaign=river&assessor={named['assessor']}", 400)
    assert refusal == ann.problem("tasks?campaign=river&assessor=nobody", 400)


def test_nobody_gets_in_without_a_token_or_a_session(world: World) -> None:
    for path in (*LISTS, "", "nothing"):
        response = Program().get(path)
        assert (response.status_code, response["WWW-Authenticate"]) == (401, 'Bearer realm="Assay"')


def test_a_session_reads_what_a_token_reads(world: World) -> None:
    assert Program(client=world.client("olga")).rows("runs") == program_of(world, "olga").rows("runs")


WRONG: dict[str, dict[str, object]] = {
    "expired": {"expires_at": timezone.now() - timedelta(days=1)},
    "revoked": {"revoked_at": timezone.now()},
    "unknown": {"sha256": "0" * 64},
}


def test_a_token_that_is_not_good_is_refused_even_beside_a_session(world: World) -> None:
    for why, fields in WRONG.items():
        program = program_of(world, "olga")
        program.client = world.client("olga")
        ApiToken.objects.update(**fields)
        assert program.problem("runs", 401)["code"] == "authentication_failed", why
        ApiToken.objects.all().delete()


def test_a_token_for_writing_does_not_read(world: World) -> None:
    assert program_of(world, "olga", ("write",)).problem("runs", 403)["code"] == "permission_denied"


def test_what_is_not_yours_answers_as_what_does_not_exist(world: World) -> None:
    """The same status, body, headers and number of queries, for each kind of key."""
    there, missing = addresses_of(world)
    for name in ("ann", "sam"):
        program = program_of(world, name)
        program.get("runs")  # the token's first use is noted
        for theirs, nothing in zip(there, missing, strict=True):
            found = [program.get(path) for path in (theirs, nothing)]
            assert [response.status_code for response in found] == [404, 404], theirs
            assert len({response.headers.pop("X-Request-ID") for response in found}) == 2
            assert found[0].headers == found[1].headers
            assert body_of(found[0]) == body_of(found[1])
            assert program.queries(theirs) == program.queries(nothing)


def addresses_of(world: World) -> tuple[list[str], list[str]]:
    program = program_of(world, "olga")
    hand_out_to(world, "ben")
    there, missing = [], []
    for collection in COLLECTIONS:
        if collection.found_by and collection.name != "jobs":
            row = program.json(collection.name)["results"][0]
            there.append(f"{collection.name}/{row.get('id', row.get('slug'))}/")
            missing.append(f"{collection.name}/{999999 if collection.found_by == 'pk' else 'nothing'}/")
            assert program.json(there[-1]) == row
    return there, missing


def test_a_filter_answers_for_hidden_values_as_for_unknown_ones(world: World) -> None:
    sam = program_of(world, "sam")
    sam.get("runs")
    theirs, nothing = "topics?campaign=river", "topics?campaign=nothing"
    assert sam.problem(theirs, 400) == sam.problem(nothing, 400)
    assert sam.queries(theirs) == sam.queries(nothing)
    assert Run.objects.exists()
    assert sam.problem("runs?run=alpha", 400) == sam.problem("runs?run=nothing", 400)
