"""A write with an Idempotency-Key is done once, however often and whenever it is sent."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import caches
from django.db import connection
from django.db.models.signals import post_save
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from accounts.models import User
from api.idempotency import KEPT, LEASE, old_keys
from api.models import IdempotencyKey
from evaluation.models import Campaign, Event, Topic
from tests.api.writing import Program, program_of
from tests.worlds.cast import make_campaign, make_cast, make_user

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]
KEY = "5a1f2c"


@pytest.fixture
def admin() -> User:
    return make_user("ada", is_superuser=True)


@pytest.fixture
def program(admin: User) -> Program:
    return program_of(admin)


def make(program: Program, slug: str = "lake", key: str = KEY) -> Any:
    return program.post("/campaigns/", {"slug": slug, "name": "Lakes"}, Idempotency_Key=key)


def age(**moments: timedelta) -> None:
    IdempotencyKey.objects.update(**{name: now() - past for name, past in moments.items()})


def test_the_same_again_is_answered_the_same_and_done_once(program: Program) -> None:
    first, repeated = make(program), make(program, key=f'"{KEY}"')
    assert first.status_code == repeated.status_code == 201
    assert first.json() == repeated.json()
    assert (first["Location"], first["ETag"]) == (repeated["Location"], repeated["ETag"])
    assert ("Idempotency-Replayed" in first, repeated["Idempotency-Replayed"]) == (False, "true")
    assert Event.objects.filter(kind="campaign.made").count() == 1


def test_another_request_under_the_key_is_refused(program: Program) -> None:
    make(program)
    response = make(program, slug="pond")
    assert response.status_code == 422
    assert response.json()["code"] == "idempotency_key_reused"
    assert not Campaign.objects.filter(slug="pond").exists()


def test_two_people_may_have_the_same_key(program: Program) -> None:
    make(program)
    assert make(program_of(make_user("bob", is_superuser=True)), slug="pond").status_code == 201


def test_what_was_refused_leaves_the_key_free(program: Program) -> None:
    assert make(program, slug="no slug").status_code == 400
    make_campaign("lake", "Another name")
    assert make(program).status_code == 422
    assert not IdempotencyKey.objects.exists()
    assert make(program, slug="pond").status_code == 201


@pytest.mark.parametrize("key", ["", "  ", "a b", "x" * 256, "ключ".encode().decode("latin-1")])
def test_a_key_that_is_none_is_refused(program: Program, key: str) -> None:
    response = make(program, key=key)
    assert response.status_code == 400
    assert response.json()["code"] == "bad_idempotency_key"


def test_a_twin_is_told_to_wait_meanwhile(program: Program, admin: User) -> None:
    twins, others = list[Any](), list[Any]()

    def send_meanwhile() -> None:
        twins.append(make(program_of(admin)))
        others.append(make(program_of(admin), slug="pond"))

    with on_event(send_meanwhile):
        assert make(program).status_code == 201
    assert {(twin.status_code, twin.json()["code"]) for twin in twins} == {(409, "idempotency_key_in_use")}
    assert {(other.status_code, other.json()["code"]) for other in others} == {(422, "idempotency_key_reused")}
    assert int(twins[0]["Retry-After"]) >= 1
    assert make(program)["Idempotency-Replayed"] == "true"


def test_a_killed_process_s_write_is_taken_over_later(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    with on_event(fail), monkeypatch.context() as killed:
        killed.setattr(type(caches["default"]), "delete", lambda *_: False)
        with pytest.raises(RuntimeError):
            make(program)
    assert make(program).json()["code"] == "idempotency_key_in_use"
    with time_machine.travel(now() + LEASE + timedelta(seconds=1)):
        assert make(program).status_code == 201


def test_who_was_thought_dead_and_was_overtaken_writes_nothing(program: Program, admin: User) -> None:
    def overtake() -> None:
        answer = {"sent": "?", "status": 201, "body": "?", "created_at": now()}
        IdempotencyKey.objects.get_or_create(user=admin, key=KEY, defaults=answer)

    with on_event(overtake):
        response = make(program)
    assert (response.status_code, response.json()["code"]) == (409, "idempotency_key_in_use")
    assert not Campaign.objects.exists()


def fail() -> None:
    raise RuntimeError("the disk is full")


def test_a_fault_leaves_neither_effects_nor_a_claim(program: Program) -> None:
    with on_event(fail), pytest.raises(RuntimeError):
        make(program)
    assert not Campaign.objects.exists()
    assert not IdempotencyKey.objects.exists()
    assert make(program).status_code == 201


def test_after_a_day_a_key_is_forgotten(program: Program) -> None:
    make(program)
    assert old_keys(now()).count() == 0
    age(created_at=KEPT + timedelta(minutes=1))
    assert make(program, slug="pond").status_code == 201
    age(created_at=KEPT + timedelta(minutes=1))
    assert old_keys(now()).count() == 1


def test_a_kept_answer_is_not_readable_in_the_database(program: Program) -> None:
    made = make(program)
    [kept] = IdempotencyKey.objects.all()
    assert made.json()["name"] == "Lakes"
    assert "Lakes" not in kept.body
    assert made.json() == make(program).json()


def test_an_answer_whose_key_is_gone_is_not_told_wrongly(program: Program, settings: Settings) -> None:
    make(program)
    settings.SECRET_KEY = "another one, and none before it" * 2
    lost = make(program)
    assert (lost.status_code, lost.json()["code"]) == (409, "idempotency_answer_lost")
    assert Event.objects.filter(kind="campaign.made").count() == 1


def test_old_answers_go_with_the_next_write_of_anybody(program: Program) -> None:
    make(program)
    age(created_at=KEPT + timedelta(minutes=1))
    make(program_of(make_user("eve", is_superuser=True)), slug="pond")
    assert IdempotencyKey.objects.count() == 1


def test_what_is_yours_no_more_is_not_told_again() -> None:
    campaign = make_campaign()
    olga = make_cast(campaign)["olga"]
    program = program_of(olga)
    path = "/campaigns/river/imports/topics/"
    assert program.load(path, "t1\twhy\n", Idempotency_Key=KEY).json()["added"] == 1
    assert program.load(path, "t1\twhy\n", Idempotency_Key=KEY).json()["added"] == 1
    assert Topic.objects.count() == 1
    campaign.memberships.filter(user=olga).update(role="assessor")
    assert program.load(path, "t1\twhy\n", Idempotency_Key=KEY).status_code == 404


@pytest.mark.usefixtures("transactional_db")
def test_of_many_at_once_one_is_done() -> None:
    ada = make_user("ada", is_superuser=True)
    programs = [program_of(ada) for _ in range(6)]
    with ThreadPoolExecutor(len(programs)) as pool:
        answers = list(pool.map(_make_and_close, programs))
    assert set(answers) <= {201, 409}
    assert 201 in answers
    assert Event.objects.filter(kind="campaign.made").count() == 1


def _make_and_close(program: Program) -> int:
    try:
        return int(make(program).status_code)
    finally:
        connection.close()


@contextmanager
def on_event(happens: Any) -> Iterator[None]:
    def heard(**_: Any) -> None:
        happens()

    post_save.connect(heard, sender=Event)
    try:
        yield
    finally:
        post_save.disconnect(heard, sender=Event)
