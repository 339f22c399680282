"""Erasing a person: everything by which they are known goes, everything that they judged stays."""

import json
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.db import connection
from django.test import Client

from accounts.models import User
from evaluation.judges import judge_of
from evaluation.labelling import give_grades
from evaluation.models import Assignment, ConditionDefault, Event, Judge, NuggetSet, SupportJudgment, Task
from evaluation.stages import ASSIGN, SUPPORT_SCRATCH
from tests.accounts.conftest import confirmed
from tests.worlds.cast import make_user
from tests.worlds.judging import JudgingWorld, finish, make_judging_world

pytestmark = pytest.mark.django_db

NAMES = ("zelda", "Zelda", "Quist", "zelda@example.org")


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    """Zelda Quist judged, wrote a list of her own, is a campaign's default, and has a token."""
    world = make_judging_world(tmp_path)
    zelda = make_user("zelda", first_name="Zelda", last_name="Quist")
    olga = Client()
    olga.force_login(world.people["olga"])
    olga.post("/campaigns/river/people/give/", {"username": "zelda", "role": "assessor"})
    finish(world.hand(SUPPORT_SCRATCH, "zelda"), 2)
    finish(world.hand(ASSIGN, "zelda", nuggets=world.campaign.nugget_sets.get(name="edited")), 1)
    NuggetSet.objects.create(
        campaign=world.campaign, name="manual-Zelda Quist", origin="manual", judge=judge_of(zelda)
    )
    give_grades(world.campaign, "grade-Zelda Quist", [])
    ConditionDefault.objects.create(
        campaign=world.campaign, condition="M/M", judge="Zelda Quist", nuggets="manual-Zelda Quist"
    )
    EmailAddress.objects.create(user=zelda, email="zelda@example.org", verified=True, primary=True)
    client = confirmed("zelda")
    client.post("/accounts/tokens/", {"name": "notebook", "scopes": ["read"], "days": "30"})
    make_user("ada", is_staff=True, is_superuser=True)
    return world


def ada() -> Client:
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    return client


def erase(typed: str = "zelda") -> int:
    zelda = User.objects.get(username="zelda")
    return ada().post(f"/accounts/people/{zelda.pk}/erase/", {"username": typed}).status_code


def database(tmp_path: Path) -> str:
    """All rows of all tables, but for what a browser of Ada's brought."""
    file = tmp_path / "all.json"
    call_command("dumpdata", "--exclude=sessions", "--exclude=contenttypes", output=str(file), verbosity=0)
    return file.read_text("utf-8")


def test_nothing_in_the_database_names_the_person(world: JudgingWorld, tmp_path: Path) -> None:
    assert all(name in database(tmp_path) for name in NAMES)
    assert erase() == 302
    left = database(tmp_path)
    assert [name for name in NAMES if name in left] == []


def test_labels_tasks_and_lists_stay_under_the_pseudonym(world: JudgingWorld) -> None:
    zelda = User.objects.get(username="zelda")
    before = counts(zelda)
    assert all(before)
    erase()
    zelda.refresh_from_db()
    assert counts(zelda) == before
    assert zelda.username.startswith("person-")
    assert zelda.name == zelda.username
    assert Judge.objects.get(user=zelda).name == zelda.username
    assert NuggetSet.objects.filter(name=f"manual-{zelda.username}").exists()
    default = ConditionDefault.objects.get(condition="M/M")
    assert (default.judge, default.nuggets) == (zelda.username, f"manual-{zelda.username}")


def counts(user: User) -> tuple[int, int, int]:
    return (
        Task.objects.filter(assessor=user).count(),
        Assignment.objects.filter(judge__user=user).count(),
        SupportJudgment.objects.filter(judge__user=user).count(),
    )


def test_nobody_signs_in_any_more(world: JudgingWorld) -> None:
    client = confirmed("zelda")
    erase()
    assert client.get("/desk/").status_code == 302
    assert authenticate(None, username="zelda", password="zelda") is None
    assert Client().post("/accounts/login/", {"login": "zelda", "password": "zelda"}).status_code == 200
    pk = User.objects.get(username__startswith="person-").pk
    assert ada().post(f"/accounts/people/{pk}/open/").status_code == 422


def test_it_has_to_be_confirmed(world: JudgingWorld) -> None:
    for typed in ("", "Zelda", "ann", "zelda x"):
        assert erase(typed) == 422
    assert User.objects.filter(username="zelda", is_active=True).exists()


@pytest.mark.slow
def test_erased_once_is_enough(world: JudgingWorld) -> None:
    zelda = User.objects.get(username="zelda")
    erase()
    zelda.refresh_from_db()
    second = ada().post(f"/accounts/people/{zelda.pk}/erase/", {"username": zelda.username})
    assert second.status_code == 422


@pytest.mark.slow
def test_a_name_within_another_word_stays(world: JudgingWorld) -> None:
    """Ann's erasure touches no planning: a name counts as a whole word only."""
    ann = world.people["ann"]
    kept = NuggetSet.objects.create(
        campaign=world.campaign, name="planning annals", origin="manual", judge=judge_of(ann)
    )
    ada().post(f"/accounts/people/{ann.pk}/erase/", {"username": "ann"})
    kept.refresh_from_db()
    assert kept.name == "planning annals"


def test_the_log_names_people_by_key(world: JudgingWorld) -> None:
    zelda = User.objects.get(username="zelda")
    handed = Event.objects.filter(kind="task.handed_out")
    assert {event.payload["assessor"] for event in handed} == {zelda.pk}
    payloads = json.dumps(list(Event.objects.values_list("payload", flat=True)))
    assert [name for name in NAMES if name in payloads] == []


@pytest.mark.slow
def test_it_is_all_or_nothing(world: JudgingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("accounts.closing._rename_in_admin_log", break_down)
    with pytest.raises(RuntimeError):
        erase()
    assert not connection.needs_rollback
    assert Judge.objects.filter(name="Zelda Quist").exists()
    assert authenticate(None, username="zelda", password="zelda")
